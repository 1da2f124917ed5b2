import { z } from "zod";
import type { DeepReadonly } from "../../core/kit/index.ts";
import { isZone, NO_ZONE } from "../../core/kit/index.ts";
import { deliverTo } from "../../core/protocol/index.ts";

const caps = z
  .strictObject({
    dollars: z.number().nonnegative().optional().describe("US dollars a day. Example: 0.5"),
    tokens: z.number().int().nonnegative().optional().describe("Tokens a day."),
    calls: z.number().int().nonnegative().optional().describe("Model calls a day. Example: 20"),
  })
  .describe("What the heartbeat may use in a day; goes before budgets.perSchedule.");

/** One agent's heartbeat. Without this section it has none. */
export const heartbeatConfig = z
  .strictObject({
    every: z
      .string()
      .min(1)
      .default("30 minutes")
      .describe("How often it looks. Looking costs nothing. Example: 1 hour"),
    activeHours: z
      .string()
      .regex(/^([01]?\d|2[0-4]):[0-5]\d-([01]?\d|2[0-4]):[0-5]\d$/, 'two times of day, such as "08:00-22:00"')
      .optional()
      .describe('When it may beat; may go over midnight. Example: "08:00-22:00"'),
    zone: z
      .string()
      .refine(isZone, NO_ZONE)
      .optional()
      .describe("Time zone of the hours. Default: time.zone. Example: Europe/Lisbon"),
    deliver: deliverTo.optional().describe("Where it speaks. Without it what it says is in the history only."),
    watch: z.array(z.string().min(1)).max(50).default([]).describe("Files of the workspace whose change is news."),
    model: z.string().optional().describe("provider/model for its beats; a small one is enough."),
    budget: caps.optional(),
    pauseAfter: z
      .number()
      .int()
      .min(1)
      .default(5)
      .describe("Beats in a row that cost something and said nothing before it pauses itself."),
  })
  .describe(
    "The agent looks after its HEARTBEAT.md by itself: cheaply first, with a model only when something is new.",
  );
export type HeartbeatConfig = DeepReadonly<z.output<typeof heartbeatConfig>>;
