import { z } from "zod";

export const locksConfig = z
  .strictObject({
    waitSeconds: z
      .number()
      .nonnegative()
      .max(3600)
      .default(120)
      .describe("How long a tool waits for a repository or file another agent works on, before it says busy."),
  })
  .prefault({})
  .describe("Work on the same files by several agents.");
export type LocksConfig = z.output<typeof locksConfig>;
