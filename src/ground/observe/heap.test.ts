import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { ManualClock } from "../../core/kit/index.ts";
import { collectWhenQuiet } from "./heap.ts";

const LONG_MS = 60_000;

it("collects once, at moments when the program has had next to nothing to do", () => {
  const clock = new ManualClock();
  const collected: string[] = [];
  const used = { user: 0, system: 0 };
  const work = (ms: number) => {
    used.user += ms * 1000;
    clock.advance(4000);
  };
  collectWhenQuiet(
    clock,
    (kind) => collected.push(kind),
    () => ({ ...used }),
  );
  work(3000);
  expect(collected).toEqual([]);
  work(10);
  expect(collected).toEqual(["minor"]);
  work(3000);
  expect(collected).toEqual(["minor"]);
  work(10);
  for (let n = 0; n < 10; n++) work(10);
  expect(collected).toEqual(["minor", "major"]);
});

it("leaves a program that stops as it is", () => {
  const clock = new ManualClock();
  let collected = 0;
  collectWhenQuiet(clock, () => collected++)();
  clock.advance(LONG_MS);
  expect(collected).toBe(0);
});

it("gets at V8's collector in the Node it runs on, and shows it to nobody else", async () => {
  const clock = new ManualClock();
  const dropped = drop();
  collectWhenQuiet(clock, undefined, () => ({ user: 0, system: 0 }));
  // Until then the reference holds what it was made with.
  await setImmediate();
  clock.advance(4000);
  clock.advance(4000);
  expect(dropped.deref()).toBeUndefined();
  expect("gc" in globalThis).toBe(false);
});

/** In a function of its own: no register of the test still holds it. */
function drop(): WeakRef<object> {
  return new WeakRef({ large: new Array(1000).fill(0) });
}
