import { z } from "zod";

export const memoryConfig = z
  .strictObject({
    queryBudgetMs: z
      .number()
      .int()
      .min(0)
      .max(5000)
      .default(100)
      .describe(
        "How long a search waits for the vector of its question: 30 ms, and as much when a text is under way. When it is late, the search goes on without it.",
      ),
    documents: z
      .array(z.string().min(1))
      .default([])
      .describe("Folders whose documents are searched too. Example: [~/notes]"),
  })
  .describe("What the agent remembers, and how it is found again.");
export type MemoryConfig = z.output<typeof memoryConfig>;
