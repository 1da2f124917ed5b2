import { z } from "zod";

export const teamsConfig = z
  .strictObject({
    depth: z.number().int().min(1).max(10).default(3).describe("How deep sub-agents may nest."),
    atOnce: z.number().int().min(1).max(100).default(8).describe("How many sub-agents one session may have at once."),
    minutes: z.number().positive().max(20_160).default(30).describe("How long a sub-agent may run."),
    stallMinutes: z
      .number()
      .positive()
      .max(20_160)
      .default(10)
      .describe("A sub-agent that does nothing for this long is reported to the agent that started it."),
    visibility: z
      .enum(["tree", "agent", "all"])
      .default("tree")
      .describe(
        "Which sessions an agent's tools may list, read and write to: its own sub-agents, all of the same agent, or all.",
      ),
  })
  .describe("Sub-agents.");
export type TeamsConfig = z.output<typeof teamsConfig>;
