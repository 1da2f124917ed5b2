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
  })
  .prefault({})
  .describe("The board: tasks for agents and people.");
export type BoardConfig = DeepReadonly<z.output<typeof boardConfig>>;
