import { z } from "zod";

export const retentionConfig = z
  .strictObject({
    sessionDays: z.number().min(0).default(0).describe("Sessions not used for so many days are deleted; 0 keeps them."),
    callHours: z
      .number()
      .min(0)
      .default(24)
      .describe(
        "Conversations of single calls (/v1 without `user`) are deleted so long after their last use; 0 keeps them.",
      ),
    journalDays: z.number().min(1).default(30).describe("How long the steps of ended turns are kept."),
  })
  .describe("What is kept for how long.");
