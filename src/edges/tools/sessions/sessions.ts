/** Tools on sessions: ask a sub-agent, look at what one's own subtree does. */
import { z } from "zod";
import type { ActionPlan, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import type { JsonObject } from "../../../core/domain/index.ts";
import { visible } from "../escape.ts";
import { parseInput } from "../input.ts";

/** What these tools need of the house. Each throws TOOL_INPUT for what the caller may not see or do. */
export interface SessionDesk {
  /** `key` again is the same child. */
  spawn(given: {
    key: string;
    task: string;
    agent?: string;
    minutes?: number;
    caller: ToolPlace["caller"];
  }): Promise<{ session: string }>;
  list(caller: ToolPlace["caller"]): Promise<{ session: string; state: string; task: string }[]>;
  history(session: string, limit: number, caller: ToolPlace["caller"]): Promise<{ role: string; text: string }[]>;
}

const spawnInput = z.strictObject({
  task: z.string().min(1).max(16_000),
  agent: z.string().max(64).optional(),
  minutes: z.number().positive().max(1440).optional(),
});
const nothing = z.strictObject({});
const historyInput = z.strictObject({
  session: z.string().min(1).max(512),
  limit: z.number().int().min(1).max(50).optional(),
});

const text: JsonObject = { type: "string" };

export function createSessionTools(desk: SessionDesk): Tool[] {
  return [spawn(desk), list(desk), history(desk)];
}

function spawn(desk: SessionDesk): Tool {
  return {
    spec: {
      name: "sessions_spawn",
      description: "Give a task to a sub-agent in the background; its result comes as a message.",
      input: {
        type: "object",
        properties: { task: text, agent: text, minutes: { type: "number" } },
        required: ["task"],
      },
    },
    repeat: "with-key",
    async plan(input, place): Promise<ActionPlan> {
      const given = parseInput("sessions_spawn", spawnInput, input);
      const who = given.agent ?? place.caller.agent;
      // A child has no more rights than its parent: what it does is judged by the same gate.
      return {
        tool: "sessions_spawn",
        risk: "read",
        targets: [who],
        shown: `Ask a sub-agent (${visible(who)}):\n${visible(given.task)}`,
        binding: { ...given } as JsonObject,
      };
    },
    async run(input, place, key): Promise<ToolResult> {
      const given = parseInput("sessions_spawn", spawnInput, input);
      const { session } = await desk.spawn({ ...given, key, caller: place.caller });
      return {
        text: `Started as ${session}. Its result will come as a later message; do not wait for it.`,
        meta: { session },
      };
    },
  };
}

function list(desk: SessionDesk): Tool {
  return {
    spec: { name: "sessions_list", description: "Your sub-agents.", input: { type: "object", properties: {} } },
    repeat: "safe",
    async plan(input): Promise<ActionPlan> {
      parseInput("sessions_list", nothing, input);
      return { tool: "sessions_list", risk: "read", targets: [], shown: "List the sub-agents.", binding: {} };
    },
    async run(_input, place): Promise<ToolResult> {
      const rows = await desk.list(place.caller);
      return { text: rows.map((r) => `${r.session}: ${r.state} — ${r.task}`).join("\n") || "There are none." };
    },
  };
}

function history(desk: SessionDesk): Tool {
  return {
    spec: {
      name: "sessions_history",
      description: "Read a sub-agent's messages.",
      input: { type: "object", properties: { session: text, limit: { type: "number" } }, required: ["session"] },
    },
    repeat: "safe",
    async plan(input): Promise<ActionPlan> {
      const { session } = parseInput("sessions_history", historyInput, input);
      return {
        tool: "sessions_history",
        risk: "read",
        targets: [session],
        shown: `Read ${visible(session)}.`,
        binding: { session },
      };
    },
    async run(input, place): Promise<ToolResult> {
      const { session, limit } = parseInput("sessions_history", historyInput, input);
      const rows = await desk.history(session, limit ?? 20, place.caller);
      return { text: rows.map((r) => `${r.role}: ${r.text}`).join("\n\n") || "Nothing was said yet." };
    },
  };
}
