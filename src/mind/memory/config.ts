import { z } from "zod";

export const memoryConfig = z
  .strictObject({
    queryBudgetMs: z
      .number()
      .int()
      .min(0)
      .max(5000)
      .default(250)
      .describe(
        "How long a search waits for the vector of its question; an idle machine needs 30. Later, the search goes on without.",
      ),
    documents: z
      .array(z.string().min(1))
      .default([])
      .describe("Folders whose documents are searched too. Example: [~/notes]"),
  })
  .describe("What the agent remembers, and how it is found again.");
export type MemoryConfig = z.output<typeof memoryConfig>;
