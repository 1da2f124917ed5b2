/** The caps of one turn (I10): pure, each says in one sentence what was reached. */
import type { Usage } from "../../core/domain/index.ts";
import type { LimitsConfig } from "./config.ts";
import type { Progress } from "./progress.ts";
import { callsReached, dollarsReached, minutesReached, unreadableCalls } from "./words.ts";

export interface Cap {
  sentence: string;
  /**
   * One more call, without tools, may say where things stand: else the work done would be lost to the person. Not after money ran
   * out, which another call would spend, nor with a model that can't be understood.
   */
  lastWord: boolean;
}

/** The first cap that is reached, before another model call. */
export function reached(limits: LimitsConfig, p: Progress, activeMs: number): Cap | undefined {
  // Money first: it is the only cap after which not even a last word may be asked for.
  const { modelCalls, minutes, dollars } = limits;
  if (computeCost(limits, p.usage) >= dollars) {
    const assumedPer = p.usage.cost === null ? limits.unknownPricePerMillion : undefined;
    return { sentence: dollarsReached(dollars, assumedPer), lastWord: false };
  }
  if (p.badInputs >= limits.badToolInputs) return { sentence: unreadableCalls(p.badInputs), lastWord: false };
  if (p.call >= modelCalls) return { sentence: callsReached(modelCalls), lastWord: true };
  if (activeMs >= minutes * 60_000) return { sentence: minutesReached(minutes), lastWord: true };
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
