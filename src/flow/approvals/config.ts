import { z } from "zod";

export const approvalsConfig = z
  .strictObject({
    expireAfterHours: z
      .number()
      .positive()
      .max(24 * 365)
      .default(24)
      .describe("How long an approval waits for a person. After that it counts as no."),
    remindAfterHours: z
      .number()
      .nonnegative()
      .max(24 * 365)
      .default(4)
      .describe(
        "When a question nobody answered is said again in its chat; then after twice that, three times at most. 0: never.",
      ),
  })
  .describe("Questions to a person before something is done.");
export type ApprovalsConfig = z.output<typeof approvalsConfig>;
