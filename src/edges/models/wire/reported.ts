/** The usage a provider reports while it streams: an answer that is cut off has been paid for all the same. */
import { asCount, findObject, type Usage } from "../../../core/domain/index.ts";

export type TokenCounts = Omit<Usage, "cost">;

/** What this event adds to what was reported before; undefined when it says nothing about usage. */
export function reportedIn(event: unknown, before: TokenCounts | undefined): TokenCounts | undefined {
  const top = findObject(event);
  if (!top) return undefined;
  // Anthropic: message_start and message_delta. OpenAI: the last chunk, or the whole response. Google: every chunk.
  const usage =
    findObject(top.usage) ?? findObject(findObject(top.message)?.usage) ?? findObject(findObject(top.response)?.usage);
  if (usage) return fromUsage(usage, before);
  const google = findObject(top.usageMetadata);
  if (!google) return undefined;
  const cached = asCount(google.cachedContentTokenCount) ?? 0;
  return {
    inputTokens: Math.max(0, (asCount(google.promptTokenCount) ?? 0) - cached),
    outputTokens: (asCount(google.candidatesTokenCount) ?? 0) + (asCount(google.thoughtsTokenCount) ?? 0),
    cacheReadTokens: cached,
    cacheWriteTokens: 0,
  };
}

function fromUsage(usage: Record<string, unknown>, before: TokenCounts | undefined): TokenCounts {
  const details = findObject(usage.prompt_tokens_details) ?? findObject(usage.input_tokens_details);
  const cached = asCount(details?.cached_tokens);
  const written = asCount(details?.cache_write_tokens);
  const input = asCount(usage.input_tokens) ?? asCount(usage.prompt_tokens);
  return {
    // OpenAI counts what it read from its cache or wrote to it as input too; Anthropic does not.
    inputTokens: input === undefined ? (before?.inputTokens ?? 0) : Math.max(0, input - (cached ?? 0) - (written ?? 0)),
    outputTokens: asCount(usage.output_tokens) ?? asCount(usage.completion_tokens) ?? before?.outputTokens ?? 0,
    cacheReadTokens: asCount(usage.cache_read_input_tokens) ?? cached ?? before?.cacheReadTokens ?? 0,
    cacheWriteTokens: asCount(usage.cache_creation_input_tokens) ?? written ?? before?.cacheWriteTokens ?? 0,
  };
}
