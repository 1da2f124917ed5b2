import { z } from "zod";
import type { DeepReadonly } from "../../core/kit/index.ts";

export const boardConfig = z
  .strictObject({
    children: z.number().int().min(1).max(500).default(24).describe("How many open tasks one task may be broken into."),
    depth: z.number().int().min(1).max(10).default(3).describe("How deep tasks may be broken down."),
    rate: z.number().int().min(1).max(10_000).default(30).describe("How many tasks agents may add in five minutes."),
    attempts: z
      .number()
      .int()
      .min(1)
      .max(20)
      .default(3)
      .describe("How often a task is tried before a person has to look at it."),
    atOnce: z.number().int().min(1).max(200).default(6).describe("How many tasks agents work on at once."),
    perMember: z.number().int().min(1).max(50).default(2).describe("How many tasks one agent works on at once."),
    escalateMinutes: z
      .number()
      .positive()
      .max(43_200)
      .default(60)
      .describe("A task that waits for a person this long is brought up again; after that, less and less often."),
    checkMinutes: z.number().positive().max(240).default(10).describe("How long a command that checks a task may run."),
    critic: z
      .string()
      .optional()
      .describe("provider/model that reviews tasks. Default: one of another family than the agent's, if there is one."),
  })
  .prefault({})
  .describe("The board: tasks for agents and people.");
export type BoardConfig = DeepReadonly<z.output<typeof boardConfig>>;
