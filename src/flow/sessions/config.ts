import { z } from "zod";

export const retentionConfig = z
  .strictObject({
    sessionDays: z
      .number()
      .min(0)
      .default(0)
      .describe("Sessions are deleted after this many days without use; 0 keeps them."),
    callHours: z
      .number()
      .min(0)
      .default(24)
      .describe(
        "Conversations of single calls (/v1 without `user`) are deleted this many hours after their last use; 0 keeps them.",
      ),
    journalDays: z.number().min(1).default(30).describe("How long the steps of ended turns are kept."),
  })
  .describe("How long things are kept.");
