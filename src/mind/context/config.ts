import { z } from "zod";

const threshold = z.number().min(0.3).max(0.95);

export const contextConfig = z
  .strictObject({
    threshold: threshold
      .default(0.75)
      .describe("How full the model's window may get before the older part is compacted. Example: 0.6"),
    maxTokens: z
      .number()
      .int()
      .min(1000)
      .default(256_000)
      .describe(
        "Compact at this many tokens at the latest, however large the window, because every call pays for them.",
      ),
    maxMessages: z.number().int().min(10).default(400).describe("Compact at this many messages at the latest."),
    summariser: z
      .string()
      .regex(/^[^/]+\/.+$/, "a provider and a model, such as anthropic/claude-sonnet-4-5")
      .optional()
      .describe("The model used for compaction. Default: the session's own. Example: anthropic/claude-haiku-5-5"),
    deadlineSeconds: z
      .number()
      .positive()
      .max(600)
      .default(60)
      .describe("How long compaction may take before rules take over from the model."),
    toolShare: z
      .number()
      .min(0.02)
      .max(0.6)
      .default(0.3)
      .describe("The share of the window that one reply's tool results may take; the full text is saved in a file."),
    snapshotTokens: z
      .number()
      .int()
      .min(0)
      .max(4000)
      .default(400)
      .describe("How much of memory is included in every request; 0 leaves it to memory_search."),
    models: z
      .record(
        z.string(),
        z.strictObject({
          threshold: threshold.optional().describe("Instead of context.threshold."),
          maxTokens: z.number().int().min(1000).optional().describe("Instead of context.maxTokens."),
        }),
      )
      .default({})
      .describe('Other values for one model. Example: {"ollama/llama3.2": {threshold: 0.6}}'),
  })
  .describe("What the model sees of a session, and when its older part is compacted.");

export type ContextConfig = z.output<typeof contextConfig>;
