/**
 * When a plugin has failed too often. Pure.
 *
 * PLUGINS-6: three failures in ten minutes switch a plugin off; everything else goes on.
 */
export const MOST_FAILURES = 3;
export const WINDOW_MS = 10 * 60_000;

/** The failures that still count, with the new one. */
export function countFailure(before: readonly number[], now: number): number[] {
  return [...before.filter((at) => at > now - WINDOW_MS), now].slice(-MOST_FAILURES);
}
