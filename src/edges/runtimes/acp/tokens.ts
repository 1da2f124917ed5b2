/** Tokens as ACP agents report them, each vendor in its own place. Pure. */
import type { Usage } from "../../../core/domain/index.ts";
import { type AcpFields, asFields } from "./fields.ts";
import type { TokenReport } from "./profile.ts";

export interface TokenCount {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** `added`: since the last report; absent where nothing was. */
export function readTokens(
  how: TokenReport,
  before: TokenCount,
  said: AcpFields,
): { added?: Omit<Usage, "cost">; total: TokenCount } {
  const found = READERS[how](said);
  if (!found) return { total: before };
  const total = how === "total" ? found : sum(before, found);
  // A smaller total is a new count: its process was replaced.
  const isNew = how === "total" && (Object.keys(found) as (keyof TokenCount)[]).some((key) => found[key] < before[key]);
  const { input, output, cacheRead, cacheWrite } = how === "total" && !isNew ? minus(found, before) : found;
  if (input + output + cacheRead + cacheWrite === 0) return { total };
  return {
    total,
    added: { inputTokens: input, outputTokens: output, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite },
  };
}

const READERS: Readonly<Record<TokenReport, (said: AcpFields) => TokenCount | undefined>> = {
  none: () => undefined,
  turn: ({ usage }) => readUsage(asFields(usage)),
  total: ({ usage }) => readUsage(asFields(usage)),
  gemini: ({ _meta }) => {
    const { input_tokens, output_tokens } = asFields(asFields(asFields(_meta).quota).token_count);
    return count({ input: input_tokens, output: output_tokens });
  },
  qwen: ({ _meta }) => readUsage(asFields(asFields(_meta).usage)),
};

function readUsage(usage: AcpFields): TokenCount | undefined {
  const cacheRead = number(usage.cachedReadTokens ?? usage.cachedTokens);
  const input = number(usage.inputTokens ?? usage.promptTokens);
  // Some count the tokens that came from a cache among the others.
  return count({
    input: Math.max(0, input - (usage.cachedTokens === undefined ? 0 : cacheRead)),
    output: number(usage.outputTokens ?? usage.candidatesTokens) + number(usage.thoughtTokens ?? usage.thoughtsTokens),
    cacheRead,
    cacheWrite: usage.cachedWriteTokens,
  });
}

function count(given: Partial<Record<keyof TokenCount, unknown>>): TokenCount | undefined {
  const found = {
    input: number(given.input),
    output: number(given.output),
    cacheRead: number(given.cacheRead),
    cacheWrite: number(given.cacheWrite),
  };
  return Object.values(found).some((one) => one > 0) ? found : undefined;
}

function sum(a: TokenCount, b: TokenCount): TokenCount {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}

function minus(a: TokenCount, b: TokenCount): TokenCount {
  return {
    input: a.input - b.input,
    output: a.output - b.output,
    cacheRead: a.cacheRead - b.cacheRead,
    cacheWrite: a.cacheWrite - b.cacheWrite,
  };
}

function number(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
