import { z } from "zod";

export const outboxConfig = z
  .strictObject({
    expireAfterHours: z
      .number()
      .positive()
      .max(24 * 365)
      .default(24)
      .describe("How long Lares tries to deliver an answer before giving up."),
    firstRetryMs: z
      .number()
      .int()
      .positive()
      .max(86_400_000)
      .default(1000)
      .describe("Wait before the first retry; doubles from there."),
    progressAfterSeconds: z
      .number()
      .positive()
      .max(86_400)
      .default(10)
      .describe("How long a tool runs, or a model is silent, before a live answer shows that and the elapsed time."),
    mostRetryMs: z
      .number()
      .int()
      .positive()
      .max(86_400_000)
      .default(300_000)
      .describe("Longest wait between two attempts."),
  })
  .describe("Delivery of answers to channels.");
export type OutboxConfig = z.output<typeof outboxConfig>;
