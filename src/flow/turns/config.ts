import { z } from "zod";

export const limitsConfig = z
  .strictObject({
    modelCalls: z.number().int().min(1).default(50).describe("Most model calls in one turn."),
    minutes: z
      .number()
      .positive()
      .max(20_160)
      .default(30)
      .describe("Longest working time of one turn; waiting for a person doesn't count."),
    dollars: z.number().positive().default(5).describe("Most money one turn may cost."),
    unknownPricePerMillion: z
      .number()
      .nonnegative()
      .default(15)
      .describe("Dollars per million tokens assumed when a model's price isn't known."),
    badToolInputs: z.number().int().min(1).default(3).describe("Unreadable tool calls in a row before the turn ends."),
    toolCalls: z
      .number()
      .int()
      .min(1)
      .max(1000)
      .default(100)
      .describe("Most tool calls run from one model reply; the model gets a note about the rest."),
    toolCallsAtOnce: z
      .number()
      .int()
      .min(1)
      .max(64)
      .default(8)
      .describe("Most tool calls of one reply that run at the same time."),
    sameCalls: z
      .number()
      .int()
      .min(2)
      .default(3)
      .describe(
        "Identical calls with identical results before the agent gets a note, then has to answer, then is stopped.",
      ),
  })
  .describe("What one turn may use.");
export type LimitsConfig = z.output<typeof limitsConfig>;
