import { z } from "zod";

export const contextConfig = z
  .strictObject({
    maxTokens: z
      .number()
      .int()
      .min(1000)
      .default(48_000)
      .describe("Most tokens of history a request carries. When full, the window moves on by half."),
    maxMessages: z.number().int().min(10).default(400).describe("Most messages of history a request carries."),
  })
  .describe("What the model sees of a session.");

export type ContextConfig = z.output<typeof contextConfig>;
