import { z } from "zod";

export const memoryConfig = z
  .strictObject({
    queryBudgetMs: z
      .number()
      .int()
      .min(0)
      .max(5000)
      .default(60)
      .describe("How long a search waits for the question's vector. When it is late, the search goes on without it."),
    documents: z
      .array(z.string().min(1))
      .default([])
      .describe("Folders whose documents are searched too. Example: [~/notes]"),
  })
  .describe("What the agent remembers, and how it is found again.");
export type MemoryConfig = z.output<typeof memoryConfig>;
