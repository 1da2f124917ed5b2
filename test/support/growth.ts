/** How work grows with its input, for texts made to be slow. No clock on a wall: a busy machine takes longer and proves nothing. */
import { expect } from "vitest";

/** Eight times the text is eight times the work where it is read in one pass, and sixty-four times where it is not. */
const TIMES = 8;
const MOST_GROWTH = 3 * TIMES;
/** Below this the machine's own noise is larger than what is measured. */
const LEAST_US = 2000;

/** The processor time of eight times the size is not much more than eight times that of the size. */
export function expectLinear(work: (size: number) => void, size: number): void {
  const small = Math.max(
    LEAST_US,
    least(() => work(size / TIMES)),
  );
  // The first that is fast enough will do: what else runs in this process can only add to it.
  const fastEnough = [1, 2, 3].some(() => spent(() => work(size)) <= MOST_GROWTH * small);
  expect(fastEnough, `${TIMES} times the text took more than ${MOST_GROWTH} times the work (${small} µs)`).toBe(true);
}

function least(work: () => void): number {
  return Math.min(...[1, 2, 3].map(() => spent(work)));
}

function spent(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
