import { z } from "zod";
import type { DeepReadonly } from "../../core/kit/index.ts";

export const memoryConfig = z
  .strictObject({
    queryBudgetMs: z
      .number()
      .int()
      .min(0)
      .max(5000)
      .default(1500)
      .describe(
        "How long a search waits for its question's vector: 30 on an idle machine, 1000 when the model isn't loaded. After that, the search continues without it.",
      ),
    capture: z
      .strictObject({
        use: z
          .enum(["auto", "model", "rules", "off"])
          .default("auto")
          .describe(
            "What finds facts in conversations: a model, plain rules, nothing. auto: a model if one is connected.",
          ),
        model: z
          .string()
          .min(1)
          .optional()
          .describe("The model for this; a small one is enough. Default: the agent's own."),
        everyMessages: z
          .number()
          .int()
          .min(1)
          .max(1000)
          .default(40)
          .describe("After this many messages from a person, a conversation is processed immediately."),
        idleSeconds: z
          .number()
          .min(0)
          .max(86_400)
          .default(300)
          .describe("With fewer new messages, after this many quiet seconds."),
        maxPerDay: z.number().int().min(0).max(10_000).default(200).describe("Most model calls per day for this."),
      })
      .prefault({})
      .describe(
        "Facts are extracted from conversations in the background. Anything from outside waits for a person's decision.",
      ),
    condense: z
      .strictObject({
        use: z
          .enum(["auto", "model", "rules", "off"])
          .default("auto")
          .describe("What condenses: a model, plain rules, nothing. auto: a model if one is connected."),
        model: z.string().min(1).optional().describe("The model for this. Default: the agent's own."),
        hour: z.number().int().min(0).max(23).default(3).describe("The hour at which it runs."),
      })
      .prefault({})
      .describe("Each night, notes and facts are condensed and MEMORY.md is updated. This can be undone."),
    files: z
      .strictObject({
        keep: z.boolean().default(true).describe("Keep USER.md, MEMORY.md and the daily notes in sync with the facts."),
        memoryChars: z
          .number()
          .int()
          .min(200)
          .max(16_000)
          .default(2200)
          .describe(
            "Most characters of facts in MEMORY.md, half or a third as many in other scripts; each new session reads them.",
          ),
        userChars: z.number().int().min(200).max(16_000).default(1400).describe("The same for USER.md."),
      })
      .prefault({})
      .describe("The memory files in an agent's folder."),
    teams: z
      .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "made of a-z, 0-9 and -"), z.array(z.string().min(1)))
      .default({})
      .describe("Agents that share a memory, scope team:<name>. Example: {home: [main, cook]}"),
    documents: z
      .array(z.string().min(1))
      .default([])
      .describe("Folders whose documents are searched, too. Example: [~/notes]"),
    plugins: z
      .record(
        z.string().min(1).max(64),
        z.strictObject({
          waitMs: z
            .number()
            .int()
            .min(50)
            .max(10_000)
            .default(1500)
            .describe("How long a search waits for it. After that, the search continues without it."),
          tell: z
            .boolean()
            .default(true)
            .describe("Tell it what is saved and forgotten. false: it is only searched, and hears the questions."),
        }),
      )
      .default({})
      .describe("Plugins that are searched, too, by name. See EXTENDING.md. Example: {shelf: {waitMs: 2000}}"),
  })
  .describe("What the agent remembers, and how it is found again.");
export type MemoryConfig = DeepReadonly<z.output<typeof memoryConfig>>;
