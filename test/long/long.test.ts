/** The short version of `npm run test:long`. */
import { expect, it } from "vitest";
import { growth, liveLong, WINDOW } from "./conversation.ts";

it("150 turns through a window of 8k tokens: none fails, none is refused, what was said early is known late", async () => {
  // Killed in the middle: the carry-over is as durable as the rest.
  const life = await liveLong(150, async (turn, lares) => {
    if (turn === 90) await lares.restart();
  });
  expect(life).toMatchObject({ failed: 0, refused: 0 });
  expect(life.largest).toBeLessThanOrEqual(WINDOW);
  expect(life.compactions).toBeGreaterThan(1);
  expect(life.recalled.map((r) => [r.answer, r.right])).toEqual(life.recalled.map((r) => [r.answer, true]));
  expect(growth(life).ratio).toBeLessThan(1.3);
}, 120_000);
