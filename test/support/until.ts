/** Waiting for a condition: the only way a test waits. */
import { setTimeout as pause } from "node:timers/promises";

/** Between two looks. Short beside what is waited for, long beside the cost of a look. */
const LOOK_MS = 10;

/** The first value that is not undefined, false or null. Says what was waited for, and what was there instead, when it never comes. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  options: { withinMs?: number; instead?: () => unknown } = {},
): Promise<NonNullable<T>> {
  const { withinMs = 30_000, instead } = options;
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found as NonNullable<T>;
    if (performance.now() > deadline) {
      const there = instead ? `; instead: ${JSON.stringify(await instead())}` : "";
      throw new Error(`waited ${withinMs} ms for: ${what}${there}`);
    }
    await pause(LOOK_MS);
  }
}
