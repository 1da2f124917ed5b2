/** Which backups stay. Pure: times in, times out. */
import type { KeepRules } from "./config.ts";

const DAY_MS = 86_400_000;

/** Those that a rule wants. The newest always stays: a rule that keeps nothing must not delete the only copy. */
export function selectKept(times: readonly number[], rules: KeepRules): Set<number> {
  const newestFirst = [...times].sort((a, b) => b - a);
  const kept = new Set(newestFirst.slice(0, Math.max(1, rules.last)));
  const spans: [most: number, span: (at: number) => string | number][] = [
    [rules.daily, (at) => Math.floor(at / DAY_MS)],
    // Day 0 of the calendar was a Thursday; weeks begin on Monday.
    [rules.weekly, (at) => Math.floor((at / DAY_MS + 3) / 7)],
    [rules.monthly, (at) => new Date(at).toISOString().slice(0, 7)],
  ];
  for (const [most, span] of spans) {
    const seen = new Set<string | number>();
    for (const at of newestFirst) {
      if (seen.has(span(at))) continue;
      if (seen.size >= most) break;
      seen.add(span(at));
      kept.add(at);
    }
  }
  return kept;
}
