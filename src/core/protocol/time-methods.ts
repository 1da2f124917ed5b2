/** Methods about time: what the agent does without being asked. */
import { z } from "zod";
import { hasWords } from "../domain/message.ts";
import { method, nothing, withIdempotencyKey } from "./method.ts";
import { agentId, deliverTo, NO_WORDS } from "./shapes.ts";

// One due time of a job. A missed one is a row with its reason, so that nothing disappears silently.
const slot = z.object({
  due: z.number(),
  state: z
    .enum(["pending", "running", "parked", "done", "failed", "skipped", "missed"])
    .describe("parked: it is waiting for an approval"),
  approval: z.string().optional().describe("the code of the approval it is waiting for"),
  reason: z.string().optional(),
  turn: z.string().optional(),
  output: z.string().optional().describe("what it said, shortened"),
  startedAt: z.number().optional(),
  endedAt: z.number().optional(),
});

export const jobCondition = z
  .union([
    z.strictObject({
      script: z.string().min(1).max(4000).describe('A command; exit 0 means yes. Example: "test -s in"'),
    }),
    z.strictObject({ changed: z.string().min(1).max(500).describe("A workspace file that must have changed.") }),
    z.strictObject({ exists: z.string().min(1).max(500).describe("A workspace file that must exist.") }),
  ])
  .describe("Decides, without a model, whether it runs.");
export const jobBudget = z
  .strictObject({
    dollars: z.number().nonnegative().optional().describe("US dollars a day. Example: 0.5"),
    tokens: z.number().int().nonnegative().optional().describe("Tokens a day, read and written."),
    calls: z.number().int().nonnegative().optional().describe("Model calls a day."),
  })
  .describe("Daily limit for its runs; overrides budgets.perSchedule.");
const thinking = z.enum(["off", "low", "medium", "high"]);

const job = z.object({
  id: z.string(),
  name: z.string(),
  words: z.string().describe("the schedule as a person reads it"),
  when: z
    .object({ kind: z.enum(["at", "every", "cron"]), text: z.string() })
    .describe("the schedule in the form that schedule.add takes"),
  agent: z.string(),
  prompt: z.string().describe("empty if it is a script"),
  script: z.string().optional(),
  condition: jobCondition.optional(),
  input: z.string().optional().describe("the job whose last output it gets"),
  session: z.string(),
  model: z.string().optional(),
  thinking: thinking.optional(),
  timeoutS: z.number(),
  budget: jobBudget.optional(),
  deliver: deliverTo.optional(),
  bestEffort: z.boolean(),
  deleteAfterRun: z.boolean(),
  keepHours: z.number(),
  alertAfter: z.number(),
  mayPlan: z.boolean(),
  quiet: z.boolean(),
  zone: z.string(),
  enabled: z.boolean(),
  declared: z.boolean().describe("true: it is defined in lares.yaml"),
  catchUp: z.enum(["once", "all", "skip"]),
  failures: z.number(),
  next: z.number().optional(),
  last: slot.optional(),
  recent: z.array(slot).describe("the last ten slots that came, newest first"),
});

// Exactly one of at, in, every and cron. The room checks that, with a better sentence than a schema has.
const when = {
  at: z
    .union([z.string().min(1).max(100), z.number()])
    .optional()
    .describe('ISO, epoch, or words: "tomorrow 9am"'),
  in: z.string().min(1).max(100).optional().describe('"30 minutes"'),
  every: z.string().min(1).max(100).optional().describe('"2 hours"'),
  anchor: z
    .union([z.string().min(1).max(100), z.number()])
    .optional()
    .describe('where `every` counts from: "07:00"'),
  cron: z.string().min(1).max(200).optional().describe('"0 7 * * 1-5"'),
  zone: z.string().min(1).max(64).optional(),
};
// Shared by adding and updating: what can be set can be changed.
const jobSettings = {
  name: z.string().min(1).max(100).optional(),
  prompt: z.string().max(16_000).refine(hasWords, NO_WORDS).optional().describe("what to do; or use a script"),
  script: z
    .string()
    .min(1)
    .max(16_000)
    .optional()
    .describe(
      "instead of a prompt: a command that runs without a model; its output is the answer, no output means no message",
    ),
  condition: jobCondition.nullish(),
  input: z.string().min(1).max(128).nullish().describe("the job whose last output it gets"),
  agent: agentId.optional(),
  session: z.string().min(1).max(512).optional().describe("isolated (default), main, or a session's key"),
  model: z.string().min(1).max(256).nullish(),
  thinking: thinking.nullish(),
  timeoutS: z.number().int().min(1).max(86_400).optional().describe("longest run in seconds; 600"),
  budget: jobBudget.nullish(),
  catchUp: z.enum(["once", "all", "skip"]).optional(),
  deliver: deliverTo.nullish().describe("where the answer goes; without it, the answer is only in the history"),
  bestEffort: z.boolean().optional().describe("true: an answer that couldn't be delivered isn't a failure"),
  deleteAfterRun: z.boolean().optional().describe("true: the job is removed after its first successful run"),
  keepHours: z.number().min(0).max(87_600).optional().describe("how long a run's own session is kept; 24"),
  alertAfter: z.number().int().min(1).max(5).optional().describe("failures in a row before an alert is sent; 2"),
  mayPlan: z.boolean().optional().describe("true: its runs may create jobs"),
  quiet: z.boolean().optional().describe("true: a run that finds nothing worth a message sends none"),
  enabled: z.boolean().optional(),
};
const jobId = z.string().min(1).max(128).describe("id or name");

/** With what it cost today: a heartbeat spends money while nobody watches. */
export const beat = z.object({
  agent: z.string(),
  state: z.enum(["off", "nothing-to-watch", "watching", "asleep", "paused"]),
  because: z.string(),
  items: z.number().describe("lines of HEARTBEAT.md that it checks"),
  useless: z.number().describe("beats in a row that cost something and said nothing"),
  every: z.number().optional().describe("milliseconds"),
  next: z.number().optional(),
  lastAt: z.number().optional().describe("the last time a model was asked"),
  lastSaid: z.string().optional(),
  problems: z.array(z.string()).describe("lines of HEARTBEAT.md that can't be understood, as sentences"),
  today: z.object({
    looks: z.number().describe("how often it checked, mostly without a model"),
    calls: z.number().describe("model calls"),
    cost: z.number().nullable().describe("for the calls whose price is known"),
    unknownPrice: z.number().describe("calls whose price isn't known"),
  }),
});
const whose = z.strictObject({ agent: agentId, ...withIdempotencyKey });

export const TIME_METHODS = {
  "heartbeat.list": method({
    in: nothing,
    out: z.object({ beats: z.array(beat) }),
    scope: "read",
    mutates: false,
    doc: "Each agent's heartbeat: whether it is running, why not, and what it cost today.",
  }),
  "heartbeat.run": method({
    in: whose,
    out: z.object({ turn: z.string() }),
    scope: "write",
    mutates: true,
    doc: "Checks now, whether or not something is new.",
  }),
  "heartbeat.pause": method({
    in: whose,
    out: beat,
    scope: "write",
    mutates: true,
    doc: "Stops the heartbeat until it is resumed.",
  }),
  "heartbeat.resume": method({ in: whose, out: beat, scope: "write", mutates: true, doc: "Resumes the heartbeat." }),
  "schedule.list": method({
    in: z.strictObject({
      limit: z.number().int().min(1).max(500).optional().describe("100"),
      cursor: z.string().min(1).max(500).optional().describe("the cursor from the previous page"),
      search: z.string().min(1).max(128).optional().describe("a part of the name or id"),
      agent: agentId.optional(),
      finished: z.boolean().optional().describe("true: include reminders and other single runs that are over"),
    }),
    out: z.object({
      jobs: z.array(job),
      total: z.number(),
      planned: z.number().describe("how many of all jobs have runs ahead"),
      cursor: z.string().optional().describe("pass it to get the next page; absent on the last"),
    }),
    scope: "read",
    mutates: false,
    doc: "Jobs with their next run and last slots: the next one due first, those without further runs last.",
  }),
  "schedule.get": method({
    in: z.strictObject({ id: jobId }),
    out: job,
    scope: "read",
    mutates: false,
    doc: "One job.",
  }),
  // Lets people see in words and times what Lares understood, before a job exists.
  "schedule.preview": method({
    in: z.strictObject(when),
    out: z.object({ words: z.string(), next: z.array(z.number()).describe("the next five times") }),
    scope: "read",
    mutates: false,
    doc: "What a schedule would be, in words and times. Nothing is created.",
  }),
  "schedule.calendar": method({
    in: z.strictObject({ from: z.number(), to: z.number() }),
    out: z.object({
      jobs: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          words: z.string().describe("the schedule as a person reads it"),
          times: z.array(z.number()),
          more: z.boolean().describe("true: it continues after the last time listed"),
        }),
      ),
      left: z.number().describe("jobs left out: only the next 500 are considered"),
    }),
    scope: "read",
    mutates: false,
    doc: "When jobs will run between two moments, at most 35 days apart.",
  }),
  "schedule.add": method({
    in: z.strictObject({
      ...when,
      ...jobSettings,
      ...withIdempotencyKey,
    }),
    out: job,
    scope: "write",
    mutates: true,
    doc: "Creates a job; give one of at, in, every, cron.",
  }),
  "schedule.update": method({
    in: z.strictObject({
      id: jobId,
      ...when,
      ...jobSettings,
      ...withIdempotencyKey,
    }),
    out: job,
    scope: "write",
    mutates: true,
    doc: "Changes, pauses or resumes a job.",
  }),
  // A reminder that is over can be snoozed too: that is when people want it.
  "schedule.snooze": method({
    in: z.strictObject({ id: jobId, in: when.in, at: when.at, zone: when.zone, ...withIdempotencyKey }),
    out: job,
    scope: "write",
    mutates: true,
    doc: "Runs a job once more, later: a single run is moved, a repeating job gets an extra run.",
  }),
  "schedule.remove": method({
    in: z.strictObject({ id: jobId, ...withIdempotencyKey }),
    out: z.object({
      removed: z.boolean(),
      withdrawn: z.array(z.string()).optional().describe("Codes of approvals its runs waited for; they end with it."),
    }),
    scope: "write",
    mutates: true,
    doc: "Removes a job and its slots, and withdraws the approvals its runs wait for.",
  }),
  "schedule.run": method({
    in: z.strictObject({ id: jobId, ...withIdempotencyKey }),
    out: z.object({ turn: z.string() }),
    scope: "write",
    mutates: true,
    doc: "Runs a job now, in addition to its schedule.",
  }),
  "schedule.history": method({
    in: z.strictObject({ id: jobId, limit: z.number().int().min(1).max(1000).optional() }),
    out: z.object({ slots: z.array(slot) }),
    scope: "read",
    mutates: false,
    doc: "A job's slots, newest first: done, failed, skipped or missed with the reason.",
  }),
} as const;
