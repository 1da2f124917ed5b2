import { z } from "zod";

export const teamsConfig = z
  .strictObject({
    depth: z.number().int().min(1).max(10).default(3).describe("How deep sub-agents may nest."),
    atOnce: z.number().int().min(1).max(100).default(8).describe("Sub-agents of one session at the same time."),
    minutes: z.number().positive().default(30).describe("Longest life of a sub-agent."),
  })
  .describe("Sub-agents.");
export type TeamsConfig = z.output<typeof teamsConfig>;
