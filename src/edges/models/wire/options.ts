/** What is asked for beside the messages: room for the answer, thinking, and the key of the prompt cache. */
import { createHash } from "node:crypto";
import type { ModelRequest, ThinkingLevel } from "../../../core/contracts/index.ts";
import type { ModelFacts } from "../catalogue.ts";
import type { Provider } from "../providers.ts";
import { COMPATIBLE, isOpenAi, type SdkProviderOptions } from "./sdk.ts";

/** Tokens of thinking per level, where a provider counts them. */
const BUDGET: Record<Exclude<ThinkingLevel, "off">, number> = { low: 2_048, medium: 8_192, high: 24_576 };
/** Room for models that think unasked; their default effort stays below it. */
const UNASKED_BUDGET = 8_192;

/** Claude models from 4.6 on choose their own budget; older ones are given one. */
const ADAPTIVE = /^claude-((opus|sonnet)-4-[6-9]|(fable|opus|sonnet|haiku)-[5-9])/;
/** These think whatever is asked, and keep what they say between tool calls in their thinking. */
const ALWAYS_THINKS = /^claude-(opus-5-5|sonnet-5-5|fable-5)/;

export interface AnswerOptions {
  maxOutputTokens: number;
  providerOptions?: SdkProviderOptions;
}

export function answerOptions(wish: {
  provider: Provider;
  modelId: string;
  facts: ModelFacts;
  request: Pick<ModelRequest, "thinking" | "maxOutputTokens" | "room" | "cacheKey">;
  defaultMaxOutput: number;
}): AnswerOptions {
  const { provider, modelId, facts, request, defaultMaxOutput } = wish;
  const level = request.thinking;
  const wanted = request.maxOutputTokens ?? defaultMaxOutput;
  // The Anthropic library adds a fixed budget to the limit itself; everywhere else thinking counts against it.
  const isFixedBudget = provider.api === "anthropic" && !ADAPTIVE.test(modelId);
  const thinking =
    level && level !== "off" ? BUDGET[level] : facts.thinksUnasked && level !== "off" ? UNASKED_BUDGET : 0;
  // Servers of local models refuse a request whose answer could not fit into the window beside it.
  const room = Math.max((request.room ?? Number.POSITIVE_INFINITY) - (isFixedBudget ? thinking : 0), 1);
  const maxOutputTokens = Math.min(wanted + (isFixedBudget ? 0 : thinking), facts.maxOutput, room);
  return { maxOutputTokens, ...wrap(providerOptions(provider, modelId, level, request.cacheKey)) };
}

function providerOptions(
  provider: Provider,
  modelId: string,
  level: ThinkingLevel | undefined,
  cacheKey: string,
): SdkProviderOptions | undefined {
  switch (provider.api) {
    case "anthropic": {
      const options = { ...anthropicThinking(modelId, level), ...(provider.official ? {} : { toolStreaming: false }) };
      return Object.keys(options).length > 0 ? { anthropic: options } : undefined;
    }
    case "google": {
      const thinkingConfig = googleThinking(modelId, level);
      return thinkingConfig ? { google: { thinkingConfig } } : undefined;
    }
    case "openai-responses":
      return {
        openai: {
          // History is ours; nothing is left with the provider, and reasoning comes back to us encrypted.
          store: false,
          promptCacheKey: shortKey(cacheKey),
          ...(level && level !== "off" ? { reasoningEffort: level, reasoningSummary: "auto" } : {}),
        },
      };
    case "openai-chat": {
      const effort = level && level !== "off" ? { reasoningEffort: level } : {};
      if (isOpenAi(provider)) return { openai: { store: false, promptCacheKey: shortKey(cacheKey), ...effort } };
      return level && level !== "off" ? { [COMPATIBLE]: effort } : undefined;
    }
  }
}

function anthropicThinking(modelId: string, level: ThinkingLevel | undefined): SdkProviderOptions[string] {
  if (ADAPTIVE.test(modelId)) {
    if (level === "off") return { thinking: { type: "disabled" } };
    if (level) return { thinking: { type: "adaptive", display: "summarized" }, effort: level };
    return ALWAYS_THINKS.test(modelId) ? { thinking: { type: "adaptive", display: "summarized" } } : {};
  }
  return level && level !== "off" ? { thinking: { type: "enabled", budgetTokens: BUDGET[level] } } : {};
}

function googleThinking(modelId: string, level: ThinkingLevel | undefined): SdkProviderOptions[string] | undefined {
  if (!level) return undefined;
  if (/^gemini-2\.5/.test(modelId)) {
    if (level !== "off") return { thinkingBudget: BUDGET[level], includeThoughts: true };
    // Only the flash models can be told not to think at all.
    return modelId.includes("flash") ? { thinkingBudget: 0 } : undefined;
  }
  return level === "off" ? undefined : { thinkingLevel: level, includeThoughts: true };
}

/** OpenAI takes at most 64 signs. */
function shortKey(key: string): string {
  return key.length <= 64 ? key : createHash("sha256").update(key).digest("hex");
}

function wrap(options: SdkProviderOptions | undefined): { providerOptions?: SdkProviderOptions } {
  return options ? { providerOptions: options } : {};
}
