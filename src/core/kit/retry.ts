/** The one rule for waiting between tries: doubling from `first` to `most`, with jitter so that crowds spread out. */
export interface Backoff {
  firstMs: number;
  mostMs: number;
  /** Share of the wait that is random, 0 to 1. */
  jitter: number;
}

/** Wait before try number `attempt` (the first retry is 1). */
export function backoffMs(rule: Backoff, attempt: number, random: () => number = Math.random): number {
  const plain = Math.min(rule.firstMs * 2 ** Math.max(attempt - 1, 0), rule.mostMs);
  return Math.round(plain * (1 - rule.jitter * random()));
}
