/** Codex counts tokens from the start of a thread, over all its processes: what a run added is a difference. Pure. */
import { asCount, asObject, type Json, type JsonObject, NO_USAGE, type Usage } from "../../../core/domain/index.ts";

/** As Codex counts: `input` holds what was read from, or written to, a cache; `output` holds what was thought. */
export interface CodexTotal {
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
}

export const NOTHING_USED: CodexTotal = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

/** The app server's words and those of `exec`. */
export function readTotal(given: unknown): CodexTotal {
  const said = asObject(given);
  return {
    input: asCount(said.inputTokens ?? said.input_tokens) ?? 0,
    cacheRead: asCount(said.cachedInputTokens ?? said.cached_input_tokens) ?? 0,
    cacheWrite: asCount(said.cacheWriteInputTokens ?? said.cache_write_input_tokens) ?? 0,
    output: asCount(said.outputTokens ?? said.output_tokens) ?? 0,
  };
}

/** Undefined when nothing was. A total that shrank is a new count. */
export function usedSince(before: CodexTotal, now: CodexTotal): Usage | undefined {
  const isNew = now.input < before.input || now.output < before.output;
  const from = isNew ? NOTHING_USED : before;
  const cacheReadTokens = Math.max(0, now.cacheRead - from.cacheRead);
  const cacheWriteTokens = Math.max(0, now.cacheWrite - from.cacheWrite);
  const inputTokens = Math.max(0, now.input - from.input - cacheReadTokens - cacheWriteTokens);
  const outputTokens = now.output - from.output;
  if (inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens === 0) return undefined;
  return { ...NO_USAGE, cost: null, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
}

/** For a run's token, and back. */
export function keepTotal({ input, cacheRead, cacheWrite, output }: CodexTotal): JsonObject {
  return { inputTokens: input, cachedInputTokens: cacheRead, cacheWriteInputTokens: cacheWrite, outputTokens: output };
}

export function keptTotal(kept: Json | undefined): CodexTotal {
  return readTotal(kept);
}
