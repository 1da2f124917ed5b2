import { z } from "zod";
import type { AdviceTable } from "../../core/contracts/index.ts";
import { remindsTooLate } from "./words.ts";

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

export const approvalsAdvice: AdviceTable = {
  "approvals.remindAfterHours": (value, { config }) => {
    const { expireAfterHours } = config.approvals as z.output<typeof approvalsConfig>;
    const isTooLate = Number(value) > 0 && Number(value) >= expireAfterHours;
    return isTooLate
      ? { message: remindsTooLate(Number(value), expireAfterHours), weight: "note", holds: true }
      : undefined;
  },
};
