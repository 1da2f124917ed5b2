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
  .describe("Daily limit for the heartbeat; overrides budgets.perSchedule.");

/** One agent's heartbeat. Without this section it has none. */
export const heartbeatConfig = z
  .strictObject({
    every: z
      .string()
      .min(1)
      .default("30 minutes")
      .describe("How often it checks. Checking costs nothing. Example: 1 hour"),
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
    deliver: deliverTo.optional().describe("Where its messages go. Without it, they are only in the history."),
    watch: z
      .array(z.string().min(1))
      .max(50)
      .default([])
      .describe("Workspace files whose changes count as something new."),
    model: z.string().optional().describe("provider/model for its checks; a small one is enough."),
    budget: caps.optional(),
    pauseAfter: z
      .number()
      .int()
      .min(1)
      .default(5)
      .describe("How many checks in a row may cost something and have nothing to say before it pauses itself."),
  })
  .describe(
    "The agent checks the items in its HEARTBEAT.md on its own: cheaply first, with a model only when something is new.",
  );
export type HeartbeatConfig = DeepReadonly<z.output<typeof heartbeatConfig>>;
