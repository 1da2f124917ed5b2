/**
 * What earlier calls of this conversation made, read off their results, so that "cancel the reminder" and "forget that" can mean
 * the last one. The oldest come first.
 */
import { asObject, findLabel, type ModelMessage } from "../../../core/domain/index.ts";

export interface Recalled {
  /** Names of reminders and jobs. */
  schedules: readonly string[];
  facts: readonly { id: string; text: string }[];
  /** Ids of background commands. */
  processes: readonly string[];
  /** Sessions of sub-agents. */
  agents: readonly string[];
}

export const NOTHING_RECALLED: Recalled = { schedules: [], facts: [], processes: [], agents: [] };

/** As long as the name of a job can be. */
const LONGEST_NAME = 200;

interface Done {
  tool: string;
  /** What was to be remembered, for `memory_save`. */
  saved: string;
  result: string;
}

export function recalledIn(messages: readonly ModelMessage[]): Recalled {
  const inputs = new Map(messages.flatMap(inputsIn));
  const done = messages.flatMap((message) => doneIn(message, inputs));
  const named = (tool: string, words: RegExp) =>
    done.flatMap((one) => (one.tool === tool ? [words.exec(one.result)?.[1] ?? ""] : [])).filter(Boolean);
  const listed = done.flatMap(({ tool, result }) => (tool === "schedule_list" ? namesIn(result) : []));
  return {
    schedules: [...listed, ...named("schedule_add", /Scheduled as "([^"]{1,200})"/)],
    facts: done.flatMap(({ tool, saved, result }) => {
      const id = tool === "memory_save" ? /\(([\w-]{1,64})\)/.exec(result)?.[1] : undefined;
      return id ? [{ id, text: saved }] : [];
    }),
    processes: named("exec", /Started in the background as ([\w-]{1,64})/),
    agents: named("sessions_spawn", /Started as ([^\s]{1,500})\. /),
  };
}

/** The one whose name has every word that was said; the newest when nothing was said, and the words themselves when none fits. */
export function meant(said: string | undefined, names: readonly string[]): string | undefined {
  if (said === undefined) return names.at(-1);
  if (said.length > LONGEST_NAME) return said;
  const words = said.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return names.findLast((name) => words.every((word) => name.toLowerCase().includes(word))) ?? said;
}

function namesIn(list: string): string[] {
  return list.split("\n").flatMap((line) => {
    const end = line.indexOf(": ");
    return end > 0 && end <= LONGEST_NAME ? [line.slice(0, end)] : [];
  });
}

type Inputs = ReadonlyMap<string, Record<string, unknown>>;

function inputsIn(message: ModelMessage): [id: string, input: Record<string, unknown>][] {
  if (message.role !== "assistant") return [];
  return message.content.flatMap((part) => (part.type === "tool-call" ? [[part.id, asObject(part.input)]] : []));
}

/** Results in their place, and outcomes that came later because a person was asked. */
function doneIn(message: ModelMessage, inputs: Inputs): Done[] {
  if (message.role === "tool") {
    return message.content.map(({ id, name, text }) => ({ ...called(name, inputs.get(id) ?? {}), result: text }));
  }
  if (message.role !== "user") return [];
  const label = findLabel(message.content);
  if (label?.kind !== "approval") return [];
  const result = message.content.map((part) => (part.type === "text" && !part.ours ? part.text : "")).join("\n");
  return [{ tool: label.of ?? "", saved: "", result }];
}

/** A call through `tool_run` is the call it ran. */
function called(name: string, input: Record<string, unknown>): Omit<Done, "result"> {
  const isRun = name === "tool_run" && typeof input.name === "string";
  const { text } = isRun ? asObject(input.input) : input;
  return { tool: isRun ? String(input.name) : name, saved: typeof text === "string" ? text : "" };
}
