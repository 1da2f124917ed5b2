import { z } from "zod";

export const locksConfig = z
  .strictObject({
    waitSeconds: z
      .number()
      .nonnegative()
      .max(3600)
      .default(120)
      .describe(
        "How long a tool waits for a repository or file that another agent is using before it gives up as busy.",
      ),
  })
  .prefault({})
  .describe("When several agents work on the same files.");
export type LocksConfig = z.output<typeof locksConfig>;
