import { z } from "zod";

export const lanesConfig = z
  .strictObject({
    interactive: z.number().int().min(1).default(256).describe("How many turns of people run at the same time."),
    scheduled: z.number().int().min(1).default(8).describe("How many scheduled turns run at the same time."),
    background: z.number().int().min(1).default(4).describe("How many background turns run at the same time."),
  })
  .describe("How much runs at once, per lane class.");
