/** What Anthropic's models take and refuse. A setting that a model refuses would fail the whole request. */

export interface ModelAbilities {
  /** Longest answer, thinking included. */
  most: number;
  /** Its limit is certain: a longer answer is not asked for. */
  isKnown: boolean;
  isClaude: boolean;
  /** Answers in a given schema, without a tool for it. */
  formats: boolean;
  /** Temperature and top_p. */
  sampling: boolean;
  /** Thinking can be switched off; `between tools`: only in part. */
  off: "yes" | "between tools" | "no";
  /** Thinking can be given a budget. */
  budgets: boolean;
  /** It can be made to call a tool. */
  forced: boolean;
}

const PLAIN: ModelAbilities = {
  most: 4096,
  isKnown: true,
  isClaude: true,
  formats: false,
  sampling: true,
  off: "yes",
  budgets: true,
  forced: true,
};
const CURRENT: ModelAbilities = { ...PLAIN, most: 128_000, formats: true };
const ADAPTIVE: ModelAbilities = { ...CURRENT, sampling: false, budgets: false };

/** The first name that occurs in the model's id counts. As the providers publish them (November 2026). */
const MODELS: readonly (readonly [RegExp, ModelAbilities])[] = [
  [/claude-sonnet-5-5/, { ...ADAPTIVE, off: "between tools", forced: false }],
  [/claude-(opus-5-5|fable-5-1)/, { ...ADAPTIVE, off: "no", forced: false }],
  [/claude-haiku-5-5/, ADAPTIVE],
  [/claude-fable-5/, { ...ADAPTIVE, off: "no" }],
  [/claude-(opus-4-[78]|(opus|sonnet)-5)/, { ...CURRENT, sampling: false }],
  [/claude-(sonnet|opus)-4-6/, CURRENT],
  [/claude-(sonnet|opus|haiku)-4-5/, { ...CURRENT, most: 64_000 }],
  [/claude-opus-4-1/, { ...CURRENT, most: 32_000 }],
  [/claude-sonnet-4-/, { ...PLAIN, most: 64_000 }],
  [/claude-opus-4-/, { ...PLAIN, most: 32_000 }],
  [/claude-3-haiku/, PLAIN],
  [/claude-(instant(-|$)|v?2(?=$|[-.:])|3(?=$|[-.]))/, { ...PLAIN, isKnown: false }],
  // Any other is newer than this list.
  [/claude-/, { ...CURRENT, sampling: false, isKnown: false }],
];

const OTHERS: ModelAbilities = { ...PLAIN, isKnown: false, isClaude: false };

export function findAbilities(modelId: string): ModelAbilities {
  return MODELS.find(([name]) => name.test(modelId))?.[1] ?? OTHERS;
}
