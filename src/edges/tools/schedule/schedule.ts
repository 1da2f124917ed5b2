/** The agent's own schedules: set a reminder or a repeating job, see them, take one away. */
import { z } from "zod";
import type { ActionPlan, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import type { Json, JsonObject, Origin } from "../../../core/domain/index.ts";
import { visible } from "../escape.ts";
import { parseInput } from "../input.ts";

/** What these tools need of the house. */
export interface ScheduleDesk {
  /** Throws with the reason and an example when the time makes no sense. `key` again is the same job. */
  add(job: {
    key: string;
    text: string;
    in?: string;
    at?: string;
    every?: string;
    cron?: string;
    caller: ToolPlace["caller"];
  }): Promise<{ name: string; words: string; next: string | null }>;
  /** The next due first, bounded; `total` counts all. */
  list(agent: string): Promise<{
    jobs: { name: string; words: string; next: string | null; prompt: string; enabled: boolean; origin: Origin }[];
    total: number;
  }>;
  remove(name: string, agent: string): Promise<void>;
  /** The schedule in words, without making it. Throws as `add` does. */
  preview(job: { in?: string; at?: string; every?: string; cron?: string }): string;
}

/** What these tools say is ours, except jobs that came from another program (`schedule_list`). */
const OURS = { result: "own", failure: "own" } as const;

const when = {
  in: z.string().optional(),
  at: z.string().optional(),
  every: z.string().optional(),
  cron: z.string().optional(),
};
const addInput = z.strictObject({ text: z.string().min(1).max(4000), ...when });
const removeInput = z.strictObject({ name: z.string().min(1).max(200) });
const nothing = z.strictObject({});

const text = (description?: string): JsonObject => ({ type: "string", ...(description ? { description } : {}) });

export function createScheduleTools(desk: ScheduleDesk): Tool[] {
  return [add(desk), list(desk), remove(desk)];
}

function add(desk: ScheduleDesk): Tool {
  return {
    spec: {
      name: "schedule_add",
      description: "Do `text` later or repeatedly; give one of in, at, every, cron.",
      input: {
        type: "object",
        properties: { text: text(), in: text("30 minutes"), at: text("tomorrow 9am"), every: text(), cron: text() },
        required: ["text"],
      },
    },
    repeat: "with-key",
    words: OURS,
    async plan(input): Promise<ActionPlan> {
      const job = parseInput("schedule_add", addInput, input);
      const shown = `Schedule, ${desk.preview(job)}:\n${visible(job.text)}`;
      return { tool: "schedule_add", risk: "state", targets: ["own chat"], shown, binding: { ...job } as JsonObject };
    },
    async run(input, place, key): Promise<ToolResult> {
      const job = parseInput("schedule_add", addInput, input);
      const made = await desk.add({ ...job, key, caller: place.caller });
      return { text: `Scheduled as "${made.name}", ${made.words}.${next(made.next)}`, meta: { name: made.name } };
    },
  };
}

function list(desk: ScheduleDesk): Tool {
  return {
    spec: { name: "schedule_list", description: "Your scheduled jobs.", input: { type: "object", properties: {} } },
    repeat: "safe",
    words: OURS,
    async plan(input): Promise<ActionPlan> {
      parseInput("schedule_list", nothing, input);
      return { tool: "schedule_list", risk: "read", targets: [], shown: "List the schedules.", binding: {} };
    },
    async run(_input, place): Promise<ToolResult> {
      const { jobs, total } = await desk.list(place.caller.agent);
      const lines = jobs.map((j) => `${j.name}: ${j.words}${j.enabled ? next(j.next) : " (paused)"} — ${j.prompt}`);
      if (total > jobs.length) lines.push(`(${total - jobs.length} more are not shown.)`);
      const origin = jobs.every((job) => job.origin === "own") ? "own" : "outside";
      return { text: lines.join("\n") || "Nothing is scheduled.", origin };
    },
  };
}

function remove(desk: ScheduleDesk): Tool {
  return {
    spec: {
      name: "schedule_remove",
      description: "Remove a scheduled job.",
      input: { type: "object", properties: { name: text() }, required: ["name"] },
    },
    repeat: "safe",
    words: OURS,
    async plan(input): Promise<ActionPlan> {
      const { name } = parseInput("schedule_remove", removeInput, input);
      return {
        tool: "schedule_remove",
        risk: "state",
        targets: [name],
        shown: `Remove the schedule "${visible(name)}".`,
        binding: { name },
      };
    },
    async run(input: Json, place): Promise<ToolResult> {
      const { name } = parseInput("schedule_remove", removeInput, input);
      await desk.remove(name, place.caller.agent);
      return { text: `Removed "${name}".` };
    },
  };
}

function next(at: string | null): string {
  return at === null ? "" : ` Next: ${at}.`;
}
