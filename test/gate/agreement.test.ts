/** SHELL-1, the quick version; `npm run test:gate` runs the whole. */
import { expect, test } from "vitest";
import { agree } from "./agreement.ts";
import { oracle } from "./oracle.ts";
import { ground } from "./support.ts";

test("a real shell starts nothing that the analyser did not report (800 strings)", { timeout: 120_000 }, async () => {
  const seed = 20_260_801;
  const { strings, known, started, misses } = await agree(seed, 800);
  expect(misses.map(({ seed: own, text, started: ran }) => ({ own, text, ran }))).toEqual([]);
  // The property says something only when the analyser often claims to know, and programs really start.
  expect(strings).toBe(800);
  expect(known).toBeGreaterThan(400);
  expect(started).toBeGreaterThan(400);
});

test("whatever the gate allows of 200 generated strings neither runs the canary nor writes a file", {
  timeout: 120_000,
}, async () => {
  const g = ground();
  try {
    const { allow, misses } = await oracle(g, 41, 200);
    expect(misses).toEqual([]);
    expect(allow).toBeGreaterThan(25);
  } finally {
    g.close();
  }
});
