/** The agent's own schedules: set a reminder or a repeating job, see them, change one, put one off, take one away. */
import { z } from "zod";
import type { ActionPlan, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import type { Json, JsonObject, Origin } from "../../../core/domain/index.ts";
import { visible } from "../escape.ts";
import { parseInput } from "../input.ts";
import * as words from "./words.ts";

export interface ShownSchedule {
  name: string;
  words: string;
  next: string | null;
}
export interface Later {
  in?: string;
  at?: string;
}
export interface ScheduleChange extends Later {
  text?: string;
  every?: string;
  cron?: string;
  paused?: boolean;
}

/** What these tools need from the rest of Lares. */
export interface SchedulePort {
  /** How long after its time a job can still be made; it then runs at once. */
  readonly graceMs: number;
  /** Throws with the reason and an example when the time makes no sense. `key` again is the same job. */
  add(job: {
    key: string;
    text: string;
    in?: string;
    at?: string;
    every?: string;
    cron?: string;
    quiet?: boolean;
    caller: ToolPlace["caller"];
  }): Promise<ShownSchedule>;
  /** The next due first, bounded; `total` counts all. */
  list(agent: string): Promise<{
    jobs: { name: string; words: string; next: string | null; prompt: string; enabled: boolean; origin: Origin }[];
    total: number;
  }>;
  /** Returns the codes of the approvals that were withdrawn with it. */
  remove(name: string, agent: string): Promise<string[]>;
  /** What the change would make of it, in words. Throws whatever `update` would throw. */
  previewUpdate(name: string, change: ScheduleChange, caller: ToolPlace["caller"]): Promise<string>;
  update(name: string, change: ScheduleChange, caller: ToolPlace["caller"]): Promise<ShownSchedule>;
  /** Once more, later. `key` again is the same snooze. */
  snooze(name: string, given: Later, caller: ToolPlace["caller"], key: string): Promise<ShownSchedule>;
  /** The moment in words. Throws for what is no single moment. */
  previewSnooze(name: string, given: Later, caller: ToolPlace["caller"]): Promise<string>;
  /** The schedule in words, without making it. Throws whatever `add` would throw, so that nobody is asked in vain. */
  preview(job: {
    text: string;
    in?: string;
    at?: string;
    every?: string;
    cron?: string;
    quiet?: boolean;
    caller: ToolPlace["caller"];
  }): Promise<string>;
  /** Throws when there is no such schedule of this agent. */
  own(name: string, agent: string): Promise<void>;
  /**
   * The moment of a job that runs once, as the words mean it now on the job's clock, or the person's for a new one; undefined for
   * one that repeats.
   */
  settle(
    given: Later & { name?: string; every?: string; cron?: string },
    caller: ToolPlace["caller"],
  ): Promise<string | undefined>;
}

/** What these tools say is ours, except jobs that came from another program (`schedule_list`). */
const OURS = { result: "own", failure: "own" } as const;

const when = {
  in: z.string().optional(),
  at: z.string().optional(),
  every: z.string().optional(),
  cron: z.string().optional(),
};
const addInput = z.strictObject({ text: z.string().min(1).max(4000), ...when, quiet: z.boolean().optional() });
const updateInput = z.strictObject({
  name: z.string().min(1).max(200),
  text: z.string().min(1).max(4000).optional(),
  paused: z.boolean().optional(),
  ...when,
});
const snoozeInput = z.strictObject({ name: z.string().min(1).max(200), in: when.in, at: when.at });
const removeInput = z.strictObject({ name: z.string().min(1).max(200) });
const nothing = z.strictObject({});

const text = (description: string): JsonObject => ({ type: "string", description });
const NAME = text("as schedule_list shows it");

export function createScheduleTools(port: SchedulePort): Tool[] {
  return [add(port), list(port), remove(port), update(port), snooze(port)];
}

function add(port: SchedulePort): Tool {
  return {
    spec: {
      name: "schedule_add",
      description:
        "Do something later or repeatedly. Give one of in, at, every, cron, in the person's time zone. You then get this text in this chat, so it must make sense by itself. Repeat the time to the person.",
      input: {
        type: "object",
        properties: {
          text: text("what to do then"),
          in: text("30 minutes"),
          at: text("tomorrow 9am, or 2026-12-24 18:00"),
          every: text("2 hours, or monday 9am"),
          cron: text("0 7 * * 1-5"),
          quiet: {
            type: "boolean",
            description: "true for a check: it runs alone and sends nothing if it finds nothing",
          },
        },
        required: ["text"],
      },
    },
    repeat: "with-key",
    words: OURS,
    async plan(input, place): Promise<ActionPlan> {
      const job = parseInput("schedule_add", addInput, input);
      const shown = words.add(await port.preview({ ...job, caller: place.caller }), visible(job.text));
      return {
        tool: "schedule_add",
        risk: "state",
        targets: [words.OWN_CHAT],
        shown,
        binding: { ...job } as JsonObject,
        ...(await fixedTime(port, job, place.caller)),
      };
    },
    async run(input, place, key): Promise<ToolResult> {
      const job = parseInput("schedule_add", addInput, input);
      const late = lateBy(job.at);
      const made = await port.add({ ...job, key, caller: place.caller });
      const text = words.scheduled(made.name, made.words, made.next);
      return withLateness({ text, meta: { name: made.name } }, late);
    },
  };
}

function list(port: SchedulePort): Tool {
  return {
    spec: {
      name: "schedule_list",
      description: "Your scheduled jobs: their names, when they run and what they do.",
      input: { type: "object", properties: {} },
    },
    repeat: "safe",
    words: OURS,
    async plan(input): Promise<ActionPlan> {
      parseInput("schedule_list", nothing, input);
      return { tool: "schedule_list", risk: "read", targets: [], shown: words.LIST, binding: {} };
    },
    async run(_input, place): Promise<ToolResult> {
      const { jobs, total } = await port.list(place.caller.agent);
      const lines = jobs.map(words.jobLine);
      if (total > jobs.length) lines.push(words.moreJobs(total - jobs.length));
      const origin = jobs.every((job) => job.origin === "own") ? "own" : "outside";
      return { text: lines.join("\n") || words.NOTHING_SCHEDULED, origin };
    },
  };
}

function remove(port: SchedulePort): Tool {
  return {
    spec: {
      name: "schedule_remove",
      description: "Remove a scheduled job for good. To skip it for a while, pause it with schedule_update.",
      input: { type: "object", properties: { name: NAME }, required: ["name"] },
    },
    repeat: "safe",
    words: OURS,
    async plan(input, place): Promise<ActionPlan> {
      const { name } = parseInput("schedule_remove", removeInput, input);
      await port.own(name, place.caller.agent);
      return {
        tool: "schedule_remove",
        risk: "state",
        targets: [name],
        shown: words.remove(visible(name)),
        binding: { name },
      };
    },
    async run(input: Json, place): Promise<ToolResult> {
      const { name } = parseInput("schedule_remove", removeInput, input);
      return { text: words.removed(name, await port.remove(name, place.caller.agent)) };
    },
  };
}

function update(port: SchedulePort): Tool {
  return {
    spec: {
      name: "schedule_update",
      description: "Change a scheduled job: its text, its time (one of in, at, every, cron), or pause and resume it.",
      input: {
        type: "object",
        properties: {
          name: NAME,
          text: text("what to do then"),
          in: text("30 minutes"),
          at: text("tomorrow 9am"),
          every: text("2 hours"),
          cron: text("0 7 * * 1-5"),
          paused: { type: "boolean", description: "false resumes it" },
        },
        required: ["name"],
      },
    },
    // Made again with the same words it is the same job; "in 10 minutes" then counts from the second time.
    repeat: "with-key",
    words: OURS,
    async plan(input, place): Promise<ActionPlan> {
      const { name, ...change } = parseInput("schedule_update", updateInput, input);
      const when = await port.previewUpdate(name, change, place.caller);
      const shown = words.change(visible(name), when, change.text && visible(change.text));
      return {
        tool: "schedule_update",
        risk: "state",
        targets: [name],
        shown,
        binding: { name, ...change } as JsonObject,
        ...(change.in === undefined && change.at === undefined
          ? {}
          : await fixedTime(port, { name, ...change }, place.caller)),
      };
    },
    async run(input, place): Promise<ToolResult> {
      const { name, ...change } = parseInput("schedule_update", updateInput, input);
      const made = await port.update(name, change, place.caller);
      return { text: words.changed(made.name, made.words, made.next), meta: { name: made.name } };
    },
  };
}

function snooze(port: SchedulePort): Tool {
  return {
    spec: {
      name: "schedule_snooze",
      description: "Remind again later: run a scheduled job once more, even one that is over. Give in or at.",
      input: {
        type: "object",
        properties: { name: NAME, in: text("10 minutes"), at: text("tomorrow 9am") },
        required: ["name"],
      },
    },
    repeat: "with-key",
    words: OURS,
    async plan(input, place): Promise<ActionPlan> {
      const { name, ...later } = parseInput("schedule_snooze", snoozeInput, input);
      const when = await port.previewSnooze(name, later, place.caller);
      const shown = words.runAgain(visible(name), when);
      return {
        tool: "schedule_snooze",
        risk: "state",
        targets: [name],
        shown,
        binding: { name, ...later } as JsonObject,
        ...(await fixedTime(port, { name, ...later }, place.caller)),
      };
    },
    async run(input, place, key): Promise<ToolResult> {
      const { name, ...later } = parseInput("schedule_snooze", snoozeInput, input);
      const late = lateBy(later.at);
      const made = await port.snooze(name, later, place.caller, key);
      return withLateness({ text: words.runsAgain(made.name, made.words), meta: { name: made.name } }, late);
    },
  };
}

/** "in 2 minutes" counts from when it was said, not from when somebody said yes. */
async function fixedTime(
  port: SchedulePort,
  given: Later & { name?: string; every?: string; cron?: string } & Record<string, unknown>,
  caller: ToolPlace["caller"],
): Promise<{ fixed?: Json; until?: number }> {
  const at = await port.settle(given, caller);
  if (at === undefined) return {};
  // Asked about no longer than a yes would still be of use.
  if (at === given.at) return { until: Date.parse(at) + port.graceMs };
  const { in: _span, ...rest } = given;
  return { fixed: { ...rest, at } as JsonObject };
}

/** Seconds since a moment that was written out, as it is before somebody is asked; undefined while it is still to come. */
function lateBy(at: string | undefined): number | undefined {
  if (at === undefined || !/(?:z|[+-]\d{2}:?\d{2})$/i.test(at)) return undefined;
  const seconds = Math.floor((Date.now() - Date.parse(at)) / 1000);
  return seconds > 0 ? seconds : undefined;
}

/** If the approval came late, the person and the model learn that it runs at once. */
function withLateness(result: ToolResult, late: number | undefined): ToolResult {
  if (late === undefined) return result;
  const notice = words.runsNow(late);
  return { ...result, text: `${result.text} ${notice}`, notice };
}
