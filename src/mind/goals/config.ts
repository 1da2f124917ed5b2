import { z } from "zod";
import type { DeepReadonly } from "../../core/kit/index.ts";

export const goalsConfig = z
  .strictObject({
    judge: z
      .string()
      .optional()
      .describe("provider/model that judges goals; a small one will do. Default: the agent's."),
    turns: z.number().int().min(1).max(200).default(10).describe("Turns a goal may take when nobody says otherwise."),
    atOnce: z.number().int().min(1).max(100).default(10).describe("Active goals at the same time."),
  })
  .prefault({})
  .describe("Standing goals.");
export type GoalsConfig = DeepReadonly<z.output<typeof goalsConfig>>;
