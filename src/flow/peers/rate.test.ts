/** How often a peer may speak. */
import { expect, test } from "vitest";
import { Rate } from "./rate.ts";

test("a peer may say so much within any minute, and what was refused doesn't count (PEERS-4)", () => {
  const rate = new Rate();
  const take = (at: number, peer = "a") => rate.take(peer, 2, at);
  expect([take(0), take(30_000), take(59_999), take(59_999, "b")]).toEqual([true, true, false, true]);
  expect([take(60_000), take(60_001), take(90_000)]).toEqual([true, false, true]);
});
