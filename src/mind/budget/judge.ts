/** Whether one more call fits a budget (I10): pure, in three kinds of use at once. */

export interface Amount {
  dollars: number;
  tokens: number;
  calls: number;
}

/** What is not named is not capped. */
export type Caps = { readonly [kind in keyof Amount]?: number | undefined };

export const KINDS = ["dollars", "tokens", "calls"] as const;
export const NOTHING: Amount = { dollars: 0, tokens: 0, calls: 0 };

export type BudgetVerdict =
  | { verdict: "fits" }
  /** It would fit if the calls under way cost nothing; they set aside the most they can cost, so some of it comes back. */
  | { verdict: "wait"; kind: keyof Amount }
  | { verdict: "over"; kind: keyof Amount };

/** Sums of dollars are sums of fractions; less than a millionth of a cent decides nothing. */
const DUST = 1e-8;

export function judge(budget: Caps, spent: Amount, reserved: Amount, estimate: Amount): BudgetVerdict {
  let waits: keyof Amount | undefined;
  for (const kind of KINDS) {
    const cap = budget[kind];
    // What adds nothing passes nothing: a free model answers also when the money is gone.
    if (cap === undefined || estimate[kind] === 0) continue;
    if (spent[kind] + estimate[kind] > cap + DUST) return { verdict: "over", kind };
    if (spent[kind] + reserved[kind] + estimate[kind] > cap + DUST) waits ??= kind;
  }
  return waits ? { verdict: "wait", kind: waits } : { verdict: "fits" };
}

/** The kind of use that is furthest, and how far: 1 is all of it. */
export function used(budget: Caps, spent: Amount): { kind: keyof Amount; share: number } | undefined {
  let most: { kind: keyof Amount; share: number } | undefined;
  for (const kind of KINDS) {
    const cap = budget[kind];
    if (cap === undefined) continue;
    const share = cap > 0 ? spent[kind] / cap : spent[kind] > 0 ? 1 : 0;
    if (!most || share > most.share) most = { kind, share };
  }
  return most;
}

export function plus(a: Amount, b: Amount): Amount {
  return { dollars: a.dollars + b.dollars, tokens: a.tokens + b.tokens, calls: a.calls + b.calls };
}

export function minus(a: Amount, b: Amount): Amount {
  return { dollars: a.dollars - b.dollars, tokens: a.tokens - b.tokens, calls: a.calls - b.calls };
}
