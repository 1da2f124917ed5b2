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
        "How long a search waits for the vector of its question: 30 on an idle machine, 1000 when the model is not loaded. Later, the search goes on without.",
      ),
    capture: z
      .strictObject({
        use: z
          .enum(["auto", "model", "rules", "off"])
          .default("auto")
          .describe(
            "Who finds facts in conversations: a model, plain rules, nobody. auto: a model when one is connected.",
          ),
        model: z
          .string()
          .min(1)
          .optional()
          .describe("The model for it; a small one is enough. Default: the agent's own."),
        everyMessages: z
          .number()
          .int()
          .min(1)
          .max(1000)
          .default(40)
          .describe("After so many messages of a person a conversation is looked through at once."),
        idleSeconds: z
          .number()
          .min(0)
          .max(86_400)
          .default(300)
          .describe("With fewer new messages, after so many quiet seconds."),
        maxPerDay: z.number().int().min(0).max(10_000).default(200).describe("Most model calls a day for it."),
      })
      .prefault({})
      .describe("Facts are taken from conversations in the background. What came from outside waits for a person."),
    condense: z
      .strictObject({
        use: z
          .enum(["auto", "model", "rules", "off"])
          .default("auto")
          .describe("Who condenses: a model, plain rules, nobody. auto: a model when one is connected."),
        model: z.string().min(1).optional().describe("The model for it. Default: the agent's own."),
        hour: z.number().int().min(0).max(23).default(3).describe("At which hour of the night it runs."),
      })
      .prefault({})
      .describe("Each night notes and facts are condensed; MEMORY.md follows. It can be undone."),
    files: z
      .strictObject({
        keep: z.boolean().default(true).describe("Keep USER.md, MEMORY.md and the daily notes in step with the facts."),
        memoryChars: z
          .number()
          .int()
          .min(200)
          .max(16_000)
          .default(2200)
          .describe(
            "Most letters of facts in MEMORY.md, of other scripts half or a third as many; each new session reads them.",
          ),
        userChars: z.number().int().min(200).max(16_000).default(1400).describe("The same for USER.md."),
      })
      .prefault({})
      .describe("The files of an agent's folder as a view of its memory."),
    teams: z
      .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "made of a-z, 0-9 and -"), z.array(z.string().min(1)))
      .default({})
      .describe("Agents that share a memory, scope team:<name>. Example: {home: [main, cook]}"),
    documents: z
      .array(z.string().min(1))
      .default([])
      .describe("Folders whose documents are searched too. Example: [~/notes]"),
  })
  .describe("What the agent remembers, and how it is found again.");
export type MemoryConfig = DeepReadonly<z.output<typeof memoryConfig>>;
