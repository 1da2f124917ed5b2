import { z } from "zod";

export const checkpointsConfig = z
  .strictObject({
    megabytes: z
      .number()
      .nonnegative()
      .default(200)
      .describe(
        "Most disk space for previous contents of files that agents changed; the oldest are deleted first. 0 keeps none.",
      ),
    days: z.number().positive().max(3650).default(14).describe("How long they are kept."),
  })
  .describe("Copies of files from before an agent changed them; what `lares undo` restores.");
export type CheckpointsConfig = z.output<typeof checkpointsConfig>;
