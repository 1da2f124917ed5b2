/**
 * The usage a provider reports while it streams. The libraries pass it on with the end of an answer only; an answer that is cut
 * off before has been paid for all the same.
 */
import type { Usage } from "../../../core/domain/index.ts";

export type TokenCounts = Omit<Usage, "cost">;

/** What this event adds to what was reported before; undefined when it says nothing about usage. */
export function reportedIn(event: unknown, before: TokenCounts | undefined): TokenCounts | undefined {
  const top = record(event);
  if (!top) return undefined;
  // Anthropic: message_start and message_delta. OpenAI: the last chunk, or the whole response. Google: every chunk.
  const usage = record(top.usage) ?? record(record(top.message)?.usage) ?? record(record(top.response)?.usage);
  if (usage) return fromUsage(usage, before);
  const google = record(top.usageMetadata);
  if (!google) return undefined;
  const cached = number(google.cachedContentTokenCount) ?? 0;
  return {
    inputTokens: Math.max(0, (number(google.promptTokenCount) ?? 0) - cached),
    outputTokens: (number(google.candidatesTokenCount) ?? 0) + (number(google.thoughtsTokenCount) ?? 0),
    cacheReadTokens: cached,
    cacheWriteTokens: 0,
  };
}

function fromUsage(usage: Record<string, unknown>, before: TokenCounts | undefined): TokenCounts {
  const details = record(usage.prompt_tokens_details) ?? record(usage.input_tokens_details);
  const cached = number(details?.cached_tokens);
  const input = number(usage.input_tokens) ?? number(usage.prompt_tokens);
  return {
    // OpenAI counts what it read from its cache as input too; Anthropic does not.
    inputTokens: input === undefined ? (before?.inputTokens ?? 0) : Math.max(0, input - (cached ?? 0)),
    outputTokens: number(usage.output_tokens) ?? number(usage.completion_tokens) ?? before?.outputTokens ?? 0,
    cacheReadTokens: number(usage.cache_read_input_tokens) ?? cached ?? before?.cacheReadTokens ?? 0,
    cacheWriteTokens: number(usage.cache_creation_input_tokens) ?? before?.cacheWriteTokens ?? 0,
  };
}

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
