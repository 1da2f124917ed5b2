import { z } from "zod";
import type { DeepReadonly } from "../../core/kit/index.ts";

export const goalsConfig = z
  .strictObject({
    judge: z
      .string()
      .optional()
      .describe("provider/model that judges goals; a small one is enough. Default: the agent's."),
    turns: z.number().int().min(1).max(200).default(10).describe("Default number of turns a goal may take."),
    atOnce: z.number().int().min(1).max(100).default(10).describe("How many goals may be active at once."),
  })
  .prefault({})
  .describe("Standing goals.");
export type GoalsConfig = DeepReadonly<z.output<typeof goalsConfig>>;
