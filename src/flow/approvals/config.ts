import { z } from "zod";

export const approvalsConfig = z
  .strictObject({
    expireAfterHours: z
      .number()
      .positive()
      .max(24 * 365)
      .default(24)
      .describe("How long an approval waits for an answer. After that, it's denied."),
    remindAfterHours: z
      .number()
      .nonnegative()
      .max(24 * 365)
      .default(4)
      .describe(
        "When an unanswered approval is repeated in its chat; then after twice that, three times at most. 0: never.",
      ),
  })
  .describe("Approvals: asking a person before something is done.");
/** One agent's own patience. */
export const agentExpiryConfig = z
  .number()
  .positive()
  .max(24 * 365)
  .optional()
  .describe("How long this agent's approvals wait. Default: approvals.expireAfterHours.");
