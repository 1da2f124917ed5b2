import { z } from "zod";

export const policyConfig = z
  .strictObject({
    mode: z
      .enum(["ask", "record", "ignore"])
      .default("ask")
      .describe(
        "ask: whatever no rule allows waits for a person. record: allowed, with an audit trail. ignore: trusted.",
      ),
  })
  .describe("What agents may do without asking.");
export type PolicyConfig = z.output<typeof policyConfig>;
