import { z } from "zod";

export const limitsConfig = z
  .strictObject({
    modelCalls: z.number().int().min(1).default(50).describe("Most model calls in one turn."),
    minutes: z
      .number()
      .positive()
      .default(30)
      .describe("Longest working time of one turn; waiting for a person does not count."),
    dollars: z.number().positive().default(5).describe("Most money one turn may cost."),
    unknownPricePerMillion: z
      .number()
      .nonnegative()
      .default(15)
      .describe("Dollars per million tokens assumed where a model's price is not known."),
    badToolInputs: z
      .number()
      .int()
      .min(1)
      .default(3)
      .describe("Unreadable tool calls in a row before the turn is ended."),
    toolCalls: z
      .number()
      .int()
      .min(1)
      .max(1000)
      .default(100)
      .describe("Most tool calls run from one reply of a model; the model is told about the rest."),
    toolCallsAtOnce: z
      .number()
      .int()
      .min(1)
      .max(64)
      .default(8)
      .describe("Most tool calls of one reply that run side by side."),
    sameCalls: z
      .number()
      .int()
      .min(2)
      .default(3)
      .describe("Identical calls with identical results before the agent is told, then made to answer, then stopped."),
  })
  .describe("What one turn may use.");
export type LimitsConfig = z.output<typeof limitsConfig>;
