import { expect, test } from "vitest";
import { ManualClock, pause } from "./index.ts";

test("a pause ends when its time is over", async () => {
  const clock = new ManualClock();
  let isOver = false;
  const paused = pause(clock, 1000, new AbortController().signal).then(() => {
    isOver = true;
  });
  clock.advance(999);
  expect(isOver).toBe(false);
  clock.advance(1);
  await paused;
});

test("a pause ends when its signal aborts, before or during it, and leaves no timer behind", async () => {
  let timers = 0;
  const clock = { now: () => 0, after: () => (timers++, () => timers--) };
  const stop = new AbortController();
  const paused = pause(clock, 1000, stop.signal);
  expect(timers).toBe(1);
  stop.abort();
  await paused;
  await pause(clock, 1000, stop.signal);
  expect(timers).toBe(0);
});
