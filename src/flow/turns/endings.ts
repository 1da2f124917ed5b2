/** What ends a turn without an answer of the usual kind: a tool for silence, the last word at a cap, an empty reply. */
import {
  type EndingTool,
  type Given,
  isEndingTool,
  isUnreadable,
  type ModelMessage,
  type ToolCallPart,
  type ToolResultPart,
} from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import type { Progress } from "./progress.ts";
import {
  CALL_ALONE,
  callsLeftLine,
  closingLine,
  EMPTY_LINE,
  endedBy,
  FORCED_LINE,
  NO_TEXT,
  NOTHING_SENT,
  nothingToSend,
  notRunBecause,
  TOO_EARLY,
  unreadableArguments,
  WILL_BE_SENT,
} from "./words.ts";

/** Lines of ours behind what was said. They stand in one request and not in the history. */
export function nudges(p: Pick<Progress, "call" | "forced" | "closing" | "empty">, modelCalls: number): ModelMessage[] {
  if (p.closing !== undefined) return [ourLine(closingLine(p.closing))];
  if (p.forced) return [ourLine(FORCED_LINE)];
  if (p.empty > 0) return [ourLine(EMPTY_LINE)];
  if (p.call === modelCalls - SOON && modelCalls >= LEAST_TO_WARN) return [ourLine(callsLeftLine(SOON))];
  return [];
}

/** No tool may be called in the next request: it must be answered in words. */
export function mustAnswer(p: Pick<Progress, "forced" | "closing">): boolean {
  return p.closing !== undefined || p.forced;
}

/** How many calls before the limit the model gets a note. */
const SOON = 2;
/** With a smaller limit, the note would come before the turn has done anything. */
const LEAST_TO_WARN = 4;

function ourLine(text: string): ModelMessage {
  return { role: "user", content: [{ type: "text", text, ours: true }] };
}

export type Silence =
  /** Nothing of the kind was called. */
  | { kind: "none" }
  /** The turn ends without a word. */
  | { kind: "silent"; call: ToolCallPart; results: ToolResultPart[] }
  /** The call is answered with what to do first; the others are run as usual. */
  | { kind: "refused"; results: ReadonlyMap<string, ToolResultPart> };

/** What a reply's calls say about silence. `offered`: the ending tools of this session; others are names like any other. */
export function findSilence(
  calls: readonly ToolCallPart[],
  offered: readonly EndingTool[],
  p: Pick<Progress, "toolCalls">,
): Silence {
  const ending = calls.filter(({ name }) => isEndingTool(name) && offered.includes(name));
  const [first] = ending;
  if (!first) return { kind: "none" };
  const isAlone = ending.length === calls.length;
  // A job that reports nothing before it looked at anything has not done its work.
  const isEarly = first.name === "nothing_to_report" && p.toolCalls === 0;
  if (isAlone && !isEarly)
    return { kind: "silent", call: first, results: ending.map((call) => makeResult(call, NOTHING_SENT)) };
  const why = isAlone ? TOO_EARLY : CALL_ALONE;
  return { kind: "refused", results: new Map(ending.map((call) => [call.id, makeResult(call, why, true)])) };
}

export type Finish =
  /** Nothing of the kind was called. */
  | { kind: "none" }
  | {
      kind: "finished";
      call: ToolCallPart;
      ending: { state: "answered" | "silent"; text: string };
      results: ToolResultPart[];
    }
  /** It lacks what it was to say, or was not called alone: the call is answered with what is wrong, and the turn goes on. */
  | { kind: "refused"; results: ReadonlyMap<string, ToolResultPart> };

/** Whether a reply's calls end the turn with one of the tools that came with the message. Every call of it gets a result. */
export function findFinish(calls: readonly ToolCallPart[], tools: NonNullable<Given["finish"]>): Finish {
  const finishing = calls.filter((call) => tools.some(({ name }) => name === call.name));
  if (finishing.length === 0) return { kind: "none" };
  if (finishing.length < calls.length) {
    return {
      kind: "refused",
      results: new Map(finishing.map((call) => [call.id, makeResult(call, CALL_ALONE, true)])),
    };
  }
  // Several at once happen. The one with words counts, because silence loses nothing.
  const said = finishing.find((call) => wordsIn(call) || !isSpeech(call, tools));
  if (!said) {
    return {
      kind: "refused",
      results: new Map(finishing.map((call) => [call.id, makeResult(call, withoutWords(call), true)])),
    };
  }
  const text = wordsIn(said);
  const results = finishing.map((call) =>
    call === said ? makeResult(call, text ? WILL_BE_SENT : NOTHING_SENT) : makeResult(call, endedBy(said.name), true),
  );
  return { kind: "finished", call: said, ending: { state: text ? "answered" : "silent", text }, results };
}

/** It says something, so it must have words. */
function isSpeech(call: ToolCallPart, tools: NonNullable<Given["finish"]>): boolean {
  const required = tools.find(({ name }) => name === call.name)?.input.required;
  // A tool without required fields is one for silence.
  return Array.isArray(required) && required.length > 0;
}

/** `message` is what the field is called in many other tools, and what it was called here at first. */
function wordsIn({ input }: ToolCallPart): string {
  const { text, message } = (input ?? {}) as { text?: unknown; message?: unknown };
  return [text, message].map((one) => (typeof one === "string" ? one.trim() : "")).find(Boolean) ?? "";
}

function withoutWords({ name, input }: ToolCallPart): string {
  return nothingToSend(name, isUnreadable(input) ? unreadableArguments(input.problem) : NO_TEXT);
}

/** Calls that are not run because the turn ends: the history keeps a result for each. */
export function notRun(calls: readonly ToolCallPart[], why: string): ToolResultPart[] {
  return calls.map((call) => makeResult(call, notRunBecause(why), true));
}

function makeResult({ id, name }: ToolCallPart, text: string, isError = false): ToolResultPart {
  return { type: "tool-result", id, name, text, ...truthy({ isError }) };
}
