/** Methods about time: what the agent does without being asked. */
import { z } from "zod";
import { keyed, method, nothing } from "./method.ts";
import { agentId } from "./shapes.ts";

const slot = z.object({
  due: z.number(),
  state: z.enum(["pending", "running", "done", "failed", "skipped", "missed"]),
  reason: z.string().optional(),
  turn: z.string().optional(),
  startedAt: z.number().optional(),
  endedAt: z.number().optional(),
});

export const job = z.object({
  id: z.string(),
  name: z.string(),
  words: z.string().describe("the schedule as a person reads it"),
  agent: z.string(),
  prompt: z.string(),
  session: z.string(),
  zone: z.string(),
  enabled: z.boolean(),
  declared: z.boolean().describe("true: it follows lares.yaml"),
  catchUp: z.enum(["once", "all", "skip"]),
  failures: z.number(),
  next: z.number().optional(),
  last: slot.optional(),
  recent: z.array(slot).describe("the last ten slots that came, newest first"),
});

const when = {
  at: z
    .union([z.string().min(1).max(100), z.number()])
    .optional()
    .describe('ISO, epoch, or words: "tomorrow 9am"'),
  in: z.string().min(1).max(100).optional().describe('"30 minutes"'),
  every: z.string().min(1).max(100).optional().describe('"2 hours"'),
  cron: z.string().min(1).max(200).optional().describe('"0 7 * * 1-5"'),
  zone: z.string().min(1).max(64).optional(),
};
const wishes = {
  name: z.string().min(1).max(100).optional(),
  model: z.string().min(1).max(256).optional(),
  catchUp: z.enum(["once", "all", "skip"]).optional(),
  deliver: z
    .strictObject({ channel: z.string(), account: z.string(), chat: z.string(), thread: z.string().optional() })
    .nullish()
    .describe("where the answer goes; without it the answer is in the history only"),
};
const jobId = z.string().min(1).max(128).describe("id or name");

export const TIME_METHODS = {
  "schedule.list": method({
    in: nothing,
    out: z.object({ jobs: z.array(job) }),
    scope: "read",
    mutates: false,
    doc: "Jobs with their next run and the last slot.",
  }),
  "schedule.preview": method({
    in: z.strictObject(when),
    out: z.object({ words: z.string(), next: z.array(z.number()).describe("the next five times") }),
    scope: "read",
    mutates: false,
    doc: "What a schedule would be, in words and times. Nothing is made.",
  }),
  "schedule.add": method({
    in: z.strictObject({
      ...when,
      ...wishes,
      prompt: z.string().min(1).max(16_000),
      agent: agentId.optional(),
      session: z.string().min(1).max(512).optional().describe("isolated (default), main, or a session's key"),
      enabled: z.boolean().optional(),
      ...keyed,
    }),
    out: job,
    scope: "write",
    mutates: true,
    doc: "Makes a job: one of at, in, every, cron.",
  }),
  "schedule.update": method({
    in: z.strictObject({
      id: jobId,
      ...when,
      ...wishes,
      prompt: z.string().min(1).max(16_000).optional(),
      enabled: z.boolean().optional(),
      ...keyed,
    }),
    out: job,
    scope: "write",
    mutates: true,
    doc: "Changes, pauses or resumes a job.",
  }),
  "schedule.remove": method({
    in: z.strictObject({ id: jobId, ...keyed }),
    out: z.object({ removed: z.boolean() }),
    scope: "write",
    mutates: true,
    doc: "Removes a job and its slots.",
  }),
  "schedule.run": method({
    in: z.strictObject({ id: jobId, ...keyed }),
    out: z.object({ turn: z.string() }),
    scope: "write",
    mutates: true,
    doc: "Runs a job now, beside its schedule.",
  }),
  "schedule.history": method({
    in: z.strictObject({ id: jobId, limit: z.number().int().min(1).max(1000).optional() }),
    out: z.object({ slots: z.array(slot) }),
    scope: "read",
    mutates: false,
    doc: "A job's slots, newest first: done, failed, skipped or missed with the reason.",
  }),
} as const;
