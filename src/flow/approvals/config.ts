import { z } from "zod";

export const approvalsConfig = z
  .strictObject({
    expireAfterHours: z
      .number()
      .positive()
      .max(24 * 365)
      .default(24)
      .describe("How long an approval waits for a person. After that it counts as no."),
  })
  .describe("Questions to a person before something is done.");
export type ApprovalsConfig = z.output<typeof approvalsConfig>;
