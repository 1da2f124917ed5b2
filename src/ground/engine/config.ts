import { z } from "zod";

export const lanesConfig = z
  .strictObject({
    interactive: z.number().int().min(1).default(256).describe("Turns of people at the same time."),
    scheduled: z.number().int().min(1).default(8).describe("Scheduled turns at the same time."),
    background: z.number().int().min(1).default(4).describe("Background turns at the same time."),
  })
  .describe("How much runs at once, per lane class.");
