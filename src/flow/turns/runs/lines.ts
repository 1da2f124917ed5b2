/** What a run said and did, as lines of the conversation and as an answer. Pure. */
import type { RunEventBody } from "../../../core/contracts/index.ts";
import { type ModelMessage, messageIds, type ToolCallPart, type ToolResultPart } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { NO_RESULT } from "../words.ts";

/** Of a result, as it is kept in the conversation; the run's own record has all of it. */
const MOST_RESULT = 4000;
/** Of one run. */
const MOST_CALLS = 200;

/**
 * The words after its last deed: what came before were words on the way. All of the last attempt's where it ended with a deed; what
 * an attempt said that was cut off is said again by the next.
 */
export function answerText(all: readonly RunEventBody[]): string {
  const events = all.slice(all.findLastIndex(isNewTry) + 1);
  const last = events.findLastIndex(({ type }) => isDeed(type));
  return joinText(events.slice(last + 1)) || joinText(events);
}

function joinText(events: readonly RunEventBody[]): string {
  return events
    .flatMap((one) => (one.type === "text" ? [one.text] : []))
    .join("")
    .trim();
}

/**
 * Each call is followed by its result, as every provider wants it. What an attempt said after its last deed before it was cut off is left
 * out: it is no answer, and the next attempt says it again.
 */
export function toLines(all: readonly RunEventBody[]): ModelMessage[] {
  const events = withoutCutOff(all);
  const results = new Map(events.flatMap((one) => (one.type === "tool_result" ? [[one.call, one] as const] : [])));
  const lines: ModelMessage[] = [];
  let text = "";
  let calls: ToolCallPart[] = [];
  let ended: ToolResultPart[] = [];
  let count = 0;
  const flush = () => {
    const said = text.trim() === "" ? [] : [{ type: "text" as const, text: text.trim() }];
    if (said.length + calls.length > 0) lines.push({ role: "assistant", content: [...said, ...calls] });
    if (calls.length > 0) lines.push({ role: "tool", content: ended });
    text = "";
    calls = [];
    ended = [];
  };
  for (const one of events) {
    if (isNewTry(one)) flush();
    else if (one.type === "text") {
      if (calls.length > 0) flush();
      text += one.text;
    } else if (one.type === "tool_call" && ++count <= MOST_CALLS) {
      // Theirs may come again in a later attempt.
      const id = messageIds.runCall(count);
      calls.push({ type: "tool-call", id, name: one.name, input: one.input });
      ended.push(toResult({ id, name: one.name }, results.get(one.call)));
    }
  }
  flush();
  return lines;
}

function withoutCutOff(events: readonly RunEventBody[]): RunEventBody[] {
  const kept: RunEventBody[] = [];
  for (const one of events) {
    if (isNewTry(one)) {
      const last = kept.findLastIndex((before) => isDeed(before.type) || isNewTry(before));
      const left = kept.splice(last + 1).filter(({ type }) => type !== "text");
      kept.push(...left);
    }
    kept.push(one);
  }
  return kept;
}

/** An attempt that starts over, or goes on from the handover. One that was taken up goes on in the middle of a word. */
function isNewTry(event: RunEventBody): boolean {
  return event.type === "run_started" && !event.takenUp;
}

function isDeed(type: RunEventBody["type"]): boolean {
  return type === "tool_call" || type === "tool_result";
}

function toResult(
  { id, name }: Pick<ToolCallPart, "id" | "name">,
  found: Extract<RunEventBody, { type: "tool_result" }> | undefined,
): ToolResultPart {
  const text = found ? found.text.slice(0, MOST_RESULT) : NO_RESULT;
  return { type: "tool-result", id, name, text, ...truthy({ isError: found?.isError ?? true }) };
}

/** The conversation before this turn, for a runtime that doesn't know it. The end counts. */
export function toText(messages: readonly ModelMessage[], most: number): string {
  const lines = messages.flatMap(({ role, content }) => {
    const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    return text === "" || role === "tool" ? [] : [`${role === "user" ? "User" : "You"}: ${text}`];
  });
  return lines.join("\n\n").slice(-most);
}
