/** The caps of one turn (I10): pure, each says in one sentence what was reached. */
import type { Usage } from "../../core/domain/index.ts";
import type { LimitsConfig } from "./config.ts";
import type { Progress } from "./progress.ts";

/** The sentence of the first cap that is reached, before another model call. */
export function reached(limits: LimitsConfig, p: Progress, activeMs: number): string | undefined {
  if (p.call >= limits.modelCalls) return `The turn reached its limit of ${limits.modelCalls} model calls.`;
  if (activeMs >= limits.minutes * 60_000) return `The turn reached its limit of ${limits.minutes} minutes.`;
  if (computeCost(limits, p.usage) >= limits.dollars) return `The turn reached its limit of $${limits.dollars}.`;
  if (p.badInputs >= limits.badToolInputs) {
    return `The model made ${p.badInputs} tool calls in a row that could not be read.`;
  }
  return undefined;
}

/** Money spent, an unknown price counted as configured: unknown is never free. */
export function computeCost(limits: LimitsConfig, usage: Usage): number {
  if (usage.cost !== null) return usage.cost;
  const tokens = usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return (tokens * limits.unknownPricePerMillion) / 1_000_000;
}

/** Counts an identical call with an identical result. */
export function repeated(last: Progress["last"], print: string): NonNullable<Progress["last"]> {
  return last?.print === print ? { print, count: last.count + 1 } : { print, count: 1 };
}
