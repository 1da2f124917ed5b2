import { expect, test } from "vitest";
import { deadline } from "./deadline.ts";

test("aborts with its parent, or when the time is up, and not after it was let go", async () => {
  const parent = new AbortController();
  const followed = deadline(parent.signal, 60_000);
  const released = deadline(parent.signal, 5);
  const timed = deadline(parent.signal, 1);
  released.done();
  await new Promise<void>((resolve) => timed.signal.addEventListener("abort", () => resolve()));
  expect((timed.signal.reason as Error).name).toBe("TimeoutError");
  parent.abort(new Error("stop"));
  expect((followed.signal.reason as Error).message).toBe("stop");
  expect(released.signal.aborted).toBe(false);
  expect(deadline(parent.signal, 1000).signal.aborted).toBe(true);
  followed.done();
});
