/**
 * Which tools a session's model is offered, and with how much description. Frozen with the prompt. The others can still be found
 * and run with `tool_search` and `tool_run`; every call is judged by its name, offered or not.
 *
 * PROMPT-4: short descriptions derive from the long ones: their first sentence, and any sentence that states a limit. A small
 * window gets the first sentence only, optional parameters without descriptions, and no rarely used parameters.
 */
import type { ToolSpec } from "../../core/contracts/index.ts";
import type { Json, JsonObject } from "../../core/domain/index.ts";
import { type Situation, type SituationKind, SMALL_WINDOW } from "./situation.ts";

/** Smaller windows get short descriptions; those below SMALL_WINDOW only the everyday tools. */
const SHORT_WINDOW = 32_000;

/** What a small window has room for, along with a conversation. */
export const DAILY_TOOLS: readonly string[] = [
  "read",
  "write",
  "edit",
  "search",
  "exec",
  "memory_search",
  "memory_save",
  "tool_search",
  "tool_run",
];

/** Optional parameters that a small window leaves out; calls that use them still work. */
const SELDOM: Readonly<Record<string, readonly string[]>> = {
  exec: ["pty"],
  search: ["context"],
  memory_save: ["kind", "replaces", "until"],
};

/** What the gate always refuses to strangers (GATE-7): offering it would only lead to wasted calls. */
const CLOSED_TO_STRANGERS = ["read", "write", "edit", "apply_patch", "list", "search", "schedule_add"] as const;

/** A sub-agent returns its result to the agent that asked: it talks to nobody else and leaves nothing running. */
const LEFT_OUT: Readonly<Record<SituationKind, readonly string[]>> = {
  owner: [],
  known: [],
  stranger: CLOSED_TO_STRANGERS,
  group: [],
  job: [],
  heartbeat: [],
  child: ["message", "schedule_add", "memory_save"],
  api: [],
};

export function toolsFor<T extends ToolSpec>(situation: Pick<Situation, "kind" | "window">, specs: readonly T[]): T[] {
  const { kind, window } = situation;
  const isDaily = (name: string) => window >= SMALL_WINDOW || DAILY_TOOLS.includes(name);
  const told = specs.filter(({ name }) => !LEFT_OUT[kind].includes(name) && isDaily(name));
  if (window >= SHORT_WINDOW) return told;
  return told.map(window >= SMALL_WINDOW ? shortened : barest);
}

function barest<T extends ToolSpec>(spec: T): T {
  const { properties = {}, required = [] } = spec.input as { properties?: JsonObject; required?: string[] };
  const named = Object.entries(properties).flatMap(([name, one]): [string, Json][] => {
    if (SELDOM[spec.name]?.includes(name)) return [];
    const { description: _words, ...bare } = one as JsonObject;
    return [[name, required.includes(name) ? one! : bare]];
  });
  const [first = ""] = splitSentences(spec.description);
  return { ...spec, description: first, input: { ...spec.input, properties: Object.fromEntries(named) } };
}

function shortened<T extends ToolSpec>(spec: T): T {
  const [first = "", ...rest] = splitSentences(spec.description);
  return { ...spec, description: [first, ...rest.filter((one) => /\d|\n/.test(one))].join(" ") };
}

/**
 * A full stop inside a name or a number doesn't end a sentence; an example on its own lines belongs to the sentence before it.
 */
function splitSentences(text: string): string[] {
  return text.split(/(?<=[.:]) (?=[A-Z])/);
}
