import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { atOnce } from "./at-once.ts";

describe("a few at a time", () => {
  test("never more than the bound run, and the results keep their order", async () => {
    let running = 0;
    let peak = 0;
    const results = await atOnce(3, [30, 1, 20, 1, 10, 1, 5], async (ms, i) => {
      peak = Math.max(peak, ++running);
      await pause(ms);
      running--;
      return i;
    });
    expect(results).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(peak).toBe(3);
  });

  test("after a failure nothing new is started", async () => {
    const started: number[] = [];
    const all = atOnce(2, [0, 1, 2, 3, 4, 5], async (n) => {
      started.push(n);
      if (n === 1) throw new Error("no");
      await pause(5);
    });
    await expect(all).rejects.toThrow("no");
    await pause(20);
    expect(started).toEqual([0, 1]);
  });

  test("work that waits for nothing still lets the event loop run", async () => {
    let turns = 0;
    let isOver = false;
    const tick = () => {
      turns++;
      if (!isOver) setImmediate(tick);
    };
    setImmediate(tick);
    await atOnce(2, Array.from({ length: 40 }), async () => {});
    isOver = true;
    // Two at a time: each pair but the first waits for a turn of the loop.
    expect(turns).toBeGreaterThan(10);
  });
});
