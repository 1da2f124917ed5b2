import { z } from "zod";

export const outboxConfig = z
  .strictObject({
    expireAfterHours: z.number().positive().default(24).describe("How long an answer is tried before it is given up."),
    firstRetryMs: z
      .number()
      .int()
      .positive()
      .default(1000)
      .describe("Wait before the first retry; doubles from there."),
    progressAfterSeconds: z
      .number()
      .positive()
      .default(10)
      .describe(
        "How long a tool runs, or a model says nothing, before a live answer tells that and the time it has taken.",
      ),
    mostRetryMs: z.number().int().positive().default(300_000).describe("Longest wait between two tries."),
  })
  .describe("Delivery of answers to channels.");
export type OutboxConfig = z.output<typeof outboxConfig>;
