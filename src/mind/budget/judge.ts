/** Whether one more call fits a budget (I10), in dollars, tokens and calls at once. Pure. */

export interface Amount {
  dollars: number;
  tokens: number;
  calls: number;
  /** The part of the dollars that counts at an assumed price, because the model's own isn't known. */
  assumed: number;
}

const KINDS = ["dollars", "tokens", "calls"] as const;
export type BudgetKind = (typeof KINDS)[number];

/** A kind that isn't named has no cap. */
export type Caps = { readonly [kind in BudgetKind]?: number | undefined };

export const NOTHING: Amount = { dollars: 0, tokens: 0, calls: 0, assumed: 0 };

export type BudgetVerdict =
  | { verdict: "fits" }
  /**
   * It would fit if the calls in progress cost nothing. They set aside the most they can cost, so some of that will be returned.
   */
  | { verdict: "wait"; kind: BudgetKind }
  | { verdict: "over"; kind: BudgetKind };

/** Dollar sums accumulate floating-point error; differences below a millionth of a cent are ignored. */
const DUST = 1e-8;

export function judge(budget: Caps, spent: Amount, reserved: Amount, estimate: Amount): BudgetVerdict {
  let waits: BudgetKind | undefined;
  for (const kind of KINDS) {
    const cap = budget[kind];
    // A call that adds nothing exceeds nothing: a free model still answers when the money is gone.
    if (cap === undefined || estimate[kind] === 0) continue;
    if (spent[kind] + estimate[kind] > cap + DUST) return { verdict: "over", kind };
    if (spent[kind] + reserved[kind] + estimate[kind] > cap + DUST) waits ??= kind;
  }
  return waits ? { verdict: "wait", kind: waits } : { verdict: "fits" };
}

/** The kind of use closest to its cap, and how close: 1 means used up. */
export function used(budget: Caps, spent: Amount): { kind: BudgetKind; share: number } | undefined {
  let most: { kind: BudgetKind; share: number } | undefined;
  for (const kind of KINDS) {
    const cap = budget[kind];
    if (cap === undefined) continue;
    const shareOfNothing = spent[kind] > 0 ? 1 : 0;
    const share = cap > 0 ? spent[kind] / cap : shareOfNothing;
    if (!most || share > most.share) most = { kind, share };
  }
  return most;
}

export function plus(a: Amount, b: Amount): Amount {
  return {
    dollars: a.dollars + b.dollars,
    tokens: a.tokens + b.tokens,
    calls: a.calls + b.calls,
    assumed: a.assumed + b.assumed,
  };
}

export function minus(a: Amount, b: Amount): Amount {
  return {
    dollars: a.dollars - b.dollars,
    tokens: a.tokens - b.tokens,
    calls: a.calls - b.calls,
    assumed: a.assumed - b.assumed,
  };
}
