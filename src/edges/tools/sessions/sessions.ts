/** Tools on sessions: ask a sub-agent, tell it more, stop it, look at what one's own subtree does. */
import { z } from "zod";
import type { ActionPlan, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import { AppError, type Json, type JsonObject, NATIVE, type Origin } from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import { visible } from "../escape.ts";
import { parseInput } from "../input.ts";
import {
  ALREADY_ENDED,
  askSubAgent,
  askSubAgentIn,
  LIST,
  NO_SUB_AGENTS,
  NO_WORKTREE,
  readSubAgent,
  SAID_NOTHING,
  SENT,
  STOPPING,
  started,
  stopSubAgent,
  tellSubAgent,
} from "./words.ts";

/** What these tools need from the rest of Lares. Each throws TOOL_INPUT for what the caller may not see or do. */
export interface SessionPort {
  /** `key` again is the same child. */
  spawn(given: {
    key: string;
    task: string;
    agent?: string;
    minutes?: number;
    result?: Json;
    /** What carries it out; the agent's own body when left out. */
    runtime?: string;
    /** The git repository that it works on, in a worktree. */
    repository?: string;
    caller: ToolPlace["caller"];
  }): Promise<{ session: string }>;
  /** The runtime of this name, and whether its use has to be judged: it isn't the agent's own body, and not our own loop. */
  runtime(name: string, agent: string): { name: string; isForeign: boolean };
  /** Whether another runtime carries out this agent's turns. */
  hasOtherBody(agent: string): boolean;
  /** `key` again is the same message. */
  send(given: { key: string; session: string; text: string; caller: ToolPlace["caller"] }): Promise<unknown>;
  /** Whether there was something to stop. */
  stop(session: string, caller: ToolPlace["caller"]): Promise<boolean>;
  list(caller: ToolPlace["caller"]): Promise<{ session: string; state: string; task: string; origin: Origin }[]>;
  history(
    session: string,
    limit: number,
    caller: ToolPlace["caller"],
  ): Promise<{ messages: { role: string; text: string }[]; origin: Origin }>;
}

/** What these tools say is ours; where they show what was said in a session, the port says whose words they are. */
const OURS = { result: "own", failure: "own" } as const;

/** Messages of a sub-agent shown at once. */
export const MOST_SHOWN = 50;

const spawnInput = z.strictObject({
  task: z.string().min(1).max(16_000),
  agent: z.string().max(64).optional(),
  minutes: z.number().positive().max(1440).optional(),
  schema: z.json().optional(),
  runtime: z.string().min(1).max(64).optional(),
  repository: z.string().min(1).max(1024).optional(),
});
const sendInput = z.strictObject({ session: z.string().min(1).max(512), text: z.string().min(1).max(16_000) });
const stopInput = z.strictObject({ session: z.string().min(1).max(512) });
const nothing = z.strictObject({});
const historyInput = z.strictObject({
  session: z.string().min(1).max(512),
  limit: z.number().int().min(1).max(MOST_SHOWN).optional(),
});

const PROBE_MS = 60_000;
const said = (description: string): JsonObject => ({ type: "string", description });
const session = said("as sessions_spawn named it");

export function createSessionTools(port: SessionPort): Tool[] {
  return [spawn(port), list(port), history(port), send(port), stop(port)];
}

function spawn(port: SessionPort): Tool {
  return {
    spec: {
      name: "sessions_spawn",
      description:
        "Give large or parallel work to a sub-agent, which doesn't know this chat. Its result comes later as a message: don't poll.",
      input: {
        type: "object",
        properties: {
          task: said("all it needs to know"),
          agent: said("default: you"),
          minutes: { type: "number", description: "time limit" },
          schema: { type: "object", description: "JSON Schema of the result" },
          runtime: said("e.g. codex"),
          repository: said("git folder"),
        },
        required: ["task"],
      },
    },
    repeat: "with-key",
    words: OURS,
    async plan(input, place): Promise<ActionPlan> {
      const given = parseInput("sessions_spawn", spawnInput, input);
      const who = given.agent ?? place.caller.agent;
      const runtime = given.runtime === undefined ? undefined : port.runtime(given.runtime, who);
      mustHaveBody(port, { who, runtime: runtime?.name, repository: given.repository });
      const binding = { ...given, ...truthy({ runtime: runtime?.name }) } as JsonObject;
      // Inside its sandbox another program may act without asking, so it is asked about before.
      if (runtime?.isForeign)
        return {
          tool: "sessions_spawn",
          risk: "service",
          targets: [runtime.name],
          shown: askSubAgentIn(visible(who), visible(runtime.name), visible(given.task)),
          binding,
        };
      // A child has no more rights than its parent: what it does is judged by the same gate.
      return {
        tool: "sessions_spawn",
        risk: "read",
        targets: [who],
        shown: askSubAgent(visible(who), visible(given.task)),
        binding,
      };
    },
    async run(input, place, key): Promise<ToolResult> {
      const given = parseInput("sessions_spawn", spawnInput, input);
      const { schema, runtime, ...rest } = given;
      const who = given.agent ?? place.caller.agent;
      const more = defined({
        result: schema === undefined ? undefined : (schema as Json),
        runtime: runtime === undefined ? undefined : port.runtime(runtime, who).name,
      });
      const { session } = await port.spawn({ ...rest, ...more, key, caller: place.caller });
      return {
        text: started(session),
        meta: { session },
      };
    },
  };
}

/** Our own loop works in the workspace, not in a worktree. */
function mustHaveBody(
  port: SessionPort,
  { who, runtime, repository }: { who: string; runtime: string | undefined; repository: string | undefined },
): void {
  if (repository === undefined) return;
  const isNative = runtime === undefined ? !port.hasOtherBody(who) : runtime === NATIVE;
  if (isNative) throw new AppError("TOOL_INPUT", { message: NO_WORKTREE });
}

function send(port: SessionPort): Tool {
  return {
    spec: {
      name: "sessions_send",
      description: "Tell a sub-agent more. It takes that into account, or starts again if it had ended.",
      input: {
        type: "object",
        properties: { session, text: said("what it should know or do") },
        required: ["session", "text"],
      },
    },
    repeat: "with-key",
    words: OURS,
    async plan(input): Promise<ActionPlan> {
      const given = parseInput("sessions_send", sendInput, input);
      return {
        tool: "sessions_send",
        risk: "read",
        targets: [given.session],
        shown: tellSubAgent(visible(given.session), visible(given.text)),
        binding: given,
      };
    },
    async run(input, place, key): Promise<ToolResult> {
      const given = parseInput("sessions_send", sendInput, input);
      await port.send({ ...given, key, caller: place.caller });
      return { text: SENT };
    },
    // The inbox knows the key again.
    async probe(input, place, key) {
      return { ok: await this.run(input, place, key, AbortSignal.timeout(PROBE_MS)) };
    },
  };
}

function stop(port: SessionPort): Tool {
  const run = async (input: Json, place: ToolPlace): Promise<ToolResult> => {
    const { session } = parseInput("sessions_stop", stopInput, input);
    const stopped = await port.stop(session, place.caller);
    return { text: stopped ? STOPPING : ALREADY_ENDED };
  };
  return {
    spec: {
      name: "sessions_stop",
      description: "Stop a sub-agent and everything it started. What it has already done stays.",
      input: { type: "object", properties: { session }, required: ["session"] },
    },
    repeat: "safe",
    words: OURS,
    async plan(input): Promise<ActionPlan> {
      const { session } = parseInput("sessions_stop", stopInput, input);
      const shown = stopSubAgent(visible(session));
      return { tool: "sessions_stop", risk: "read", targets: [session], shown, binding: { session } };
    },
    run,
  };
}

function list(port: SessionPort): Tool {
  return {
    spec: {
      name: "sessions_list",
      description: "Your sub-agents with their state and task. Their results come to you as messages, so don't poll.",
      input: { type: "object", properties: {} },
    },
    repeat: "safe",
    words: OURS,
    async plan(input): Promise<ActionPlan> {
      parseInput("sessions_list", nothing, input);
      return { tool: "sessions_list", risk: "read", targets: [], shown: LIST, binding: {} };
    },
    async run(_input, place): Promise<ToolResult> {
      const rows = await port.list(place.caller);
      const origin = rows.every((row) => row.origin === "own") ? "own" : "outside";
      return {
        text: rows.map((r) => `${r.session}: ${r.state} — ${r.task}`).join("\n") || NO_SUB_AGENTS,
        origin,
      };
    },
  };
}

function history(port: SessionPort): Tool {
  return {
    spec: {
      name: "sessions_history",
      description: "Read what a sub-agent has said and done so far, newest messages last.",
      input: {
        type: "object",
        properties: { session, limit: { type: "integer", description: `messages; max ${MOST_SHOWN}` } },
        required: ["session"],
      },
    },
    repeat: "safe",
    words: OURS,
    async plan(input): Promise<ActionPlan> {
      const { session } = parseInput("sessions_history", historyInput, input);
      return {
        tool: "sessions_history",
        risk: "read",
        targets: [session],
        shown: readSubAgent(visible(session)),
        binding: { session },
      };
    },
    async run(input, place): Promise<ToolResult> {
      const { session, limit } = parseInput("sessions_history", historyInput, input);
      const { messages, origin } = await port.history(session, limit ?? 20, place.caller);
      return { text: messages.map((m) => `${m.role}: ${m.text}`).join("\n\n") || SAID_NOTHING, origin };
    },
  };
}
