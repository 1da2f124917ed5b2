/** The slice `models` of the configuration. The app joins it with the others; the docs are printed from it. */
import { z } from "zod";
import type { DeepReadonly } from "../../core/kit/index.ts";

const price = z
  .strictObject({
    input: z.number().nonnegative().describe("US dollars per million input tokens. Example: 3"),
    output: z.number().nonnegative().describe("US dollars per million output tokens. Example: 15"),
    cacheRead: z.number().nonnegative().optional().describe("Per million tokens read from the cache. Default: input"),
    cacheWrite: z.number().nonnegative().optional().describe("Per million tokens written to it. Default: input"),
  })
  .describe("What this model costs; without it the cost of a call is unknown, never 0.");

const model = z.strictObject({
  contextWindow: z.number().int().positive().optional().describe("Tokens the model can hold. Example: 128000"),
  maxOutput: z.number().int().positive().optional().describe("Most tokens of one answer. Example: 8192"),
  images: z.boolean().optional().describe("Whether it can see pictures. Default: true. Example: false"),
  price: price.optional(),
});

const profile = z.strictObject({
  name: z.string().min(1).describe("Name of the credential in logs and notices. Example: work"),
  key: z.string().min(1).describe("The API key."),
});

const provider = z.strictObject({
  api: z
    .enum(["anthropic", "openai-chat", "openai-responses", "google"])
    .optional()
    .describe("Wire protocol. Default: the provider's own; openai-chat for a name Lares does not know."),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Where the provider is. Example: http://127.0.0.1:8080/v1"),
  plugin: z
    .string()
    .regex(/^[a-z0-9.-]{1,64}$/, "a plugin's name")
    .optional()
    .describe("In place of an address: the plugin that answers. Example: local-llm"),
  keys: z.array(z.string().min(1)).optional().describe("API keys, tried in this order."),
  profiles: z.array(profile).optional().describe("Named API keys, tried in this order, after `keys`."),
  models: z.record(z.string(), model).optional().describe("Facts about models Lares does not know."),
});

export const modelsConfig = z.strictObject({
  default: z
    .string()
    .regex(/^[^/]+\/.+$/, "a provider and a model, such as anthropic/claude-sonnet-4-5")
    .optional()
    .describe("The model that answers first. LARES_MODEL overrides it. Example: anthropic/claude-sonnet-5-5"),
  fallbacks: z
    .array(z.string().regex(/^[^/]+\/.+$/, "a provider and a model, such as anthropic/claude-sonnet-4-5"))
    .default([])
    .describe("Models to try, in this order, when the default cannot answer. Example: [openai/gpt-6.1-sol]"),
  providers: z
    .record(z.string().regex(/^[a-z0-9][a-z0-9_.-]*$/), provider)
    .default({})
    .describe("Providers besides those found by their environment variables, or changes to them."),
  idleTimeoutMs: z
    .number()
    .int()
    .positive()
    .max(86_400_000)
    .default(120_000)
    .describe("How long an answer may pause before Lares gives up on it."),
  firstByteTimeoutMs: z
    .number()
    .int()
    .positive()
    .max(86_400_000)
    .default(120_000)
    .describe(
      "How long a model may take to start answering before Lares gives up on it. Raise it for slow local models.",
    ),
  patienceMs: z
    .number()
    .int()
    .nonnegative()
    .max(86_400_000)
    .default(60_000)
    .describe(
      "How long one call may keep waiting and trying again, counted from its start. A running answer is not cut off.",
    ),
  maxOutputTokens: z
    .number()
    .int()
    .positive()
    .default(8192)
    .describe("Most tokens of an answer, thinking not counted; less where the model can do less."),
});

export type ModelsConfig = DeepReadonly<z.output<typeof modelsConfig>>;
export type ProviderConfig = DeepReadonly<z.output<typeof provider>>;
