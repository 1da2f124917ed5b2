/** What is asked for beside the messages: room for the answer, thinking, and the key of the prompt cache. */
import { createHash } from "node:crypto";
import type { ModelRequest, ThinkingLevel } from "../../../core/contracts/index.ts";
import { type AnswerSettings, assertNever } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import type { ModelFacts } from "../catalogue.ts";
import type { Provider } from "../providers.ts";
import { COMPATIBLE, isOpenAi, type SdkOptions, type SdkProviderOptions } from "./sdk.ts";

type JsonSchema = Extract<NonNullable<SdkOptions["responseFormat"]>, { type: "json" }>["schema"];

/** Tokens of thinking per level, where a provider counts them. */
const BUDGET: Record<Exclude<ThinkingLevel, "off">, number> = { low: 2_048, medium: 8_192, high: 24_576 };
/** Room for models that think unasked; their default effort stays below it. */
const UNASKED_BUDGET = 8_192;

/** Claude models from 4.6 on choose their own budget; older ones are given one. */
const ADAPTIVE = /^claude-((opus|sonnet)-4-[6-9]|(fable|opus|sonnet|haiku)-[5-9])/;
/** These think whatever is asked, and keep what they say between tool calls in their thinking. */
const ALWAYS_THINKS = /^claude-(opus-5-5|sonnet-5-5|fable-5)/;

export type AnswerOptions = Pick<
  SdkOptions,
  | "maxOutputTokens"
  | "temperature"
  | "topP"
  | "presencePenalty"
  | "frequencyPenalty"
  | "seed"
  | "stopSequences"
  | "responseFormat"
  | "providerOptions"
>;

export function answerOptions(input: {
  provider: Provider;
  modelId: string;
  facts: ModelFacts;
  request: Pick<ModelRequest, "thinking" | "maxOutputTokens" | "room" | "cacheKey" | "settings">;
  defaultMaxOutput: number;
}): AnswerOptions {
  const { provider, modelId, facts, request, defaultMaxOutput } = input;
  const level = request.thinking;
  const wanted = request.maxOutputTokens ?? defaultMaxOutput;
  // The Anthropic library adds a fixed budget to the limit itself; everywhere else thinking counts against it.
  const isFixedBudget = provider.api === "anthropic" && !ADAPTIVE.test(modelId);
  const thinking = thinkingRoom(level, facts);
  // Servers of local models refuse a request whose answer could not fit into the window beside it.
  const room = Math.max((request.room ?? Number.POSITIVE_INFINITY) - (isFixedBudget ? thinking : 0), 1);
  // A limit the caller set is the whole answer's, thinking included, as it is where that setting comes from.
  const more = isFixedBudget || request.settings?.maxOutputTokens !== undefined ? 0 : thinking;
  const maxOutputTokens = Math.min(wanted + more, facts.maxOutput, room);
  const options = withOneCall(
    withStrict(providerOptions(provider, modelId, level, request.cacheKey), provider, request.settings),
    provider,
    request.settings,
  );
  return { maxOutputTokens, ...toSettings(request.settings), ...wrap(options) };
}

function thinkingRoom(level: ThinkingLevel | undefined, facts: ModelFacts): number {
  if (level === "off") return 0;
  if (level) return BUDGET[level];
  return facts.thinksUnasked ? UNASKED_BUDGET : 0;
}

function toSettings(settings: AnswerSettings = {}): AnswerOptions {
  const { temperature, topP, presencePenalty, frequencyPenalty, seed, stop, format } = settings;
  const { name, description, schema } = format ?? {};
  return {
    ...defined({ temperature, topP, presencePenalty, frequencyPenalty, seed, stopSequences: stop }),
    ...(format === undefined
      ? {}
      : {
          responseFormat: {
            type: "json" as const,
            ...defined({ name, description }),
            ...(schema === undefined ? {} : { schema: schema as JsonSchema }),
          },
        }),
  };
}

/** The library takes every schema as strict unless told otherwise, and OpenAI then refuses optional properties. */
function withStrict(
  options: SdkProviderOptions | undefined,
  provider: Provider,
  settings: AnswerSettings | undefined,
): SdkProviderOptions | undefined {
  const isOpenAis = provider.api === "openai-responses" || isOpenAi(provider);
  if (!settings?.format?.schema || !isOpenAis) return options;
  return { ...options, openai: { ...options?.openai, strictJsonSchema: settings.format.strict ?? false } };
}

/** Where the provider has a setting for it. Elsewhere, and where a model doesn't follow it, only its first call counts (`Answer`). */
function withOneCall(
  options: SdkProviderOptions | undefined,
  provider: Provider,
  settings: AnswerSettings | undefined,
): SdkProviderOptions | undefined {
  if (settings?.parallelToolCalls !== false) return options;
  if (provider.api === "anthropic")
    return { ...options, anthropic: { ...options?.anthropic, disableParallelToolUse: true } };
  const isOpenAis = provider.api === "openai-responses" || isOpenAi(provider);
  return isOpenAis ? { ...options, openai: { ...options?.openai, parallelToolCalls: false } } : options;
}

/** In words too: not every provider has a setting for it, and those that have want the word in the prompt. */
export function formatWords(settings: AnswerSettings | undefined): string {
  if (!settings?.format) return "";
  const { schema } = settings.format;
  const fits = schema ? ` It must fit this JSON Schema: ${JSON.stringify(schema)}` : "";
  return `\n\nAnswer with one JSON object and nothing else, not even a code fence.${fits}`;
}

const SETTING_NAMES: Readonly<Record<string, string>> = {
  temperature: "temperature",
  topP: "top_p",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  seed: "seed",
};

/**
 * Which of the caller's settings were kept, read from the request as the library wrote it. `ignored`: settings it left out or changed,
 * by the name callers know; stop words and formats are kept by us as well. `jsonTool`: a format it asks for by way of a separate tool.
 */
export function granted(
  body: string,
  request: Pick<ModelRequest, "settings" | "tools">,
  { thinksUnasked }: Pick<ModelFacts, "thinksUnasked">,
): { ignored: string[]; jsonTool: boolean } {
  const { settings = {} } = request;
  const { thinking } = settings;
  const chosen = Object.entries(SETTING_NAMES).filter(([key]) => settings[key as keyof AnswerSettings] !== undefined);
  if (chosen.length === 0 && !settings.format && !thinking) return { ignored: [], jsonTool: false };
  const written = JSON.parse(body) as Record<string, unknown>;
  // Google has these in a separate object, under the names we have.
  const own = { ...written, ...(written.generationConfig as Record<string, unknown> | undefined) };
  const ignored = chosen.filter(([key, name]) => (own[name] ?? own[key]) !== settings[key as keyof AnswerSettings]);
  const offered = (Array.isArray(written.tools) ? written.tools : []) as { name?: unknown }[];
  const isOurs = request.tools.some((tool) => tool.name === JSON_TOOL);
  // A model that doesn't think unless it is asked to is off when nothing is said.
  const isThinkingKept = !thinking || asksAboutThinking(own) || (thinking === "off" && !thinksUnasked);
  return {
    ignored: [...ignored.map(([, name]) => name), ...(isThinkingKept ? [] : ["reasoning_effort"])],
    jsonTool: Boolean(settings.format) && !isOurs && offered.some((tool) => tool.name === JSON_TOOL),
  };
}

/** Chat completions, responses, Anthropic (budget or effort) and Google. */
function asksAboutThinking(own: Readonly<Record<string, unknown>>): boolean {
  return ["reasoning_effort", "reasoning", "thinking", "output_config", "thinkingConfig"].some(
    (name) => own[name] !== undefined,
  );
}

/** The name the Anthropic library gives its tool for models without a setting for formats. */
const JSON_TOOL = "json";

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
    default:
      return assertNever(provider.api);
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
    // Thinking can be switched off only for the flash models.
    return modelId.includes("flash") ? { thinkingBudget: 0 } : undefined;
  }
  return level === "off" ? undefined : { thinkingLevel: level, includeThoughts: true };
}

/** OpenAI takes at most 64 characters. */
function shortKey(key: string): string {
  return key.length <= 64 ? key : createHash("sha256").update(key).digest("hex");
}

function wrap(options: SdkProviderOptions | undefined): { providerOptions?: SdkProviderOptions } {
  return options ? { providerOptions: options } : {};
}
