/** The usage a provider reports while it streams: an answer that is cut off has been paid for all the same. */
import type { Usage } from "../../../core/domain/index.ts";
import { count, record } from "./loose.ts";

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
  const cached = count(google.cachedContentTokenCount) ?? 0;
  return {
    inputTokens: Math.max(0, (count(google.promptTokenCount) ?? 0) - cached),
    outputTokens: (count(google.candidatesTokenCount) ?? 0) + (count(google.thoughtsTokenCount) ?? 0),
    cacheReadTokens: cached,
    cacheWriteTokens: 0,
  };
}

function fromUsage(usage: Record<string, unknown>, before: TokenCounts | undefined): TokenCounts {
  const details = record(usage.prompt_tokens_details) ?? record(usage.input_tokens_details);
  const cached = count(details?.cached_tokens);
  const written = count(details?.cache_write_tokens);
  const input = count(usage.input_tokens) ?? count(usage.prompt_tokens);
  return {
    // OpenAI counts what it read from its cache or wrote to it as input too; Anthropic does not.
    inputTokens: input === undefined ? (before?.inputTokens ?? 0) : Math.max(0, input - (cached ?? 0) - (written ?? 0)),
    outputTokens: count(usage.output_tokens) ?? count(usage.completion_tokens) ?? before?.outputTokens ?? 0,
    cacheReadTokens: count(usage.cache_read_input_tokens) ?? cached ?? before?.cacheReadTokens ?? 0,
    cacheWriteTokens: count(usage.cache_creation_input_tokens) ?? written ?? before?.cacheWriteTokens ?? 0,
  };
}
