/**
 * Prices in US dollars per million tokens: data, as published by the providers when this was written (November 2026).
 * A model that is not listed has no known price; its cost is null, never 0. `models.providers.<name>.models` overrides.
 */
import type { Usage } from "../../core/domain/index.ts";

export interface Price {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Prompts longer than this many tokens cost this instead. */
  above?: { tokens: number; input: number; output: number; cacheRead: number; cacheWrite: number };
}

const flat = (input: number, output: number, cacheRead: number, cacheWrite = input): Price => ({
  input,
  output,
  cacheRead,
  cacheWrite,
});

/** By provider, then by the beginning of the model id; the longest match counts, so dated ids find their family. */
export const PRICES: Record<string, Record<string, Price>> = {
  anthropic: {
    "claude-fable-5": flat(10, 50, 1, 12.5),
    "claude-fable-5-1": flat(10, 50, 0.25, 12.5),
    "claude-opus-5-5": flat(4, 20, 0.2, 5),
    "claude-opus-5": flat(5, 25, 0.5, 6.25),
    "claude-opus-4-8": flat(5, 25, 0.5, 6.25),
    "claude-opus-4-7": flat(5, 25, 0.5, 6.25),
    "claude-opus-4-6": flat(5, 25, 0.5, 6.25),
    "claude-opus-4-5": flat(5, 25, 0.5, 6.25),
    "claude-opus-4-1": flat(15, 75, 1.5, 18.75),
    "claude-opus-4-0": flat(15, 75, 1.5, 18.75),
    "claude-opus-4": flat(15, 75, 1.5, 18.75),
    "claude-sonnet-5-5": flat(2, 10, 0.2, 2.5),
    "claude-sonnet-5": flat(2, 10, 0.2, 2.5),
    "claude-sonnet-4-6": flat(3, 15, 0.3, 3.75),
    "claude-sonnet-4-5": flat(3, 15, 0.3, 3.75),
    "claude-sonnet-4-0": flat(3, 15, 0.3, 3.75),
    "claude-sonnet-4": flat(3, 15, 0.3, 3.75),
    "claude-haiku-5-5": {
      ...flat(0.1, 0.5, 0.01, 0.125),
      above: { tokens: 100_000, ...flat(0.5, 2.5, 0.05, 0.625) },
    },
    "claude-haiku-4-5": flat(1, 5, 0.1, 1.25),
  },
  openai: {
    "gpt-6.1-sol": flat(2, 10, 0.1),
    "gpt-6-sol": flat(2, 10, 0.2),
    "gpt-6-luna": flat(0.1, 0.5, 0.01),
    "gpt-5.6-sol": {
      ...flat(5, 30, 0.5, 6.25),
      above: { tokens: 272_000, ...flat(10, 45, 1, 12.5) },
    },
    "gpt-5.2": flat(1.75, 14, 0.175),
    "gpt-5.1": flat(1.25, 10, 0.125),
    "gpt-5": flat(1.25, 10, 0.125),
    "gpt-5-mini": flat(0.25, 2, 0.025),
    "gpt-5-nano": flat(0.05, 0.4, 0.005),
    "gpt-4.1": flat(2, 8, 0.5),
    "gpt-4.1-mini": flat(0.4, 1.6, 0.1),
    "gpt-4.1-nano": flat(0.1, 0.4, 0.025),
    "gpt-4o": flat(2.5, 10, 1.25),
    "gpt-4o-mini": flat(0.15, 0.6, 0.075),
    o3: flat(2, 8, 0.5),
    "o4-mini": flat(1.1, 4.4, 0.275),
  },
  google: {
    // Half of this until the end of 2026; a budget is safer with what it costs afterwards.
    "gemini-3.8-flash": flat(1.5, 7.5, 0.15),
    "gemini-3.1-pro": { ...flat(2, 12, 0.2), above: { tokens: 200_000, ...flat(4, 18, 0.4) } },
    "gemini-3-pro": { ...flat(2, 12, 0.2), above: { tokens: 200_000, ...flat(4, 18, 0.4) } },
    "gemini-3-flash": flat(0.5, 3, 0.05),
    "gemini-2.5-pro": { ...flat(1.25, 10, 0.125), above: { tokens: 200_000, ...flat(2.5, 15, 0.25) } },
    "gemini-2.5-flash": flat(0.3, 2.5, 0.03),
    "gemini-2.5-flash-lite": flat(0.1, 0.4, 0.01),
  },
};

/** Families whose variants cost something else must not lend them their price. */
const VARIANT = /^(-\d{4}-?\d{2}-?\d{2}|-\d{8}|-latest|-preview.*|-\d{3})?$/;

export function findPrice(provider: string, model: string): Price | null {
  let best: string | undefined;
  for (const prefix of Object.keys(PRICES[provider] ?? {})) {
    if (!model.startsWith(prefix) || !VARIANT.test(model.slice(prefix.length))) continue;
    if (best === undefined || prefix.length > best.length) best = prefix;
  }
  return best === undefined ? null : PRICES[provider]![best]!;
}

export function computeCost(price: Price | null, usage: Omit<Usage, "cost">): number | null {
  if (!price) return null;
  const total = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const rate = price.above && total > price.above.tokens ? price.above : price;
  return (
    (usage.inputTokens * rate.input +
      usage.outputTokens * rate.output +
      usage.cacheReadTokens * rate.cacheRead +
      usage.cacheWriteTokens * rate.cacheWrite) /
    1_000_000
  );
}

/** Whether any use of it costs nothing. */
export function isFree(price: Price | null): boolean {
  const rates = price ? [price, ...(price.above ? [price.above] : [])] : [];
  return price !== null && rates.every((rate) => rate.input + rate.output + rate.cacheRead + rate.cacheWrite === 0);
}
