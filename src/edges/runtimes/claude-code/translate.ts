/**
 * From the lines of Claude Code (stream-json) to a run's events. Pure: a state and one thing heard give the next state and the events.
 *
 * CLAUDE-1: whether a turn failed, `is_error` says. `subtype` is "success" also when the model refused the key.
 * CLAUDE-2: totals become what was added (RUNTIME-7), also over a restart of the program.
 * CLAUDE-3: an answer comes word by word and then once more as a whole: it becomes events once. A stream that broke is begun again by the program:
 *     what came before doesn't come twice.
 * CLAUDE-4: a turn that ends with nothing said after a denial ended because of it.
 * CLAUDE-5: what the program tells of the past (`isReplay`), of itself (`isSynthetic`) and of its own children isn't part of the answer.
 */
import type { RunEventBody, RunOutcome } from "../../../core/contracts/index.ts";
import { asCount, asObject, assertNever, asText, type Json, listObjects } from "../../../core/domain/index.ts";
import { classify, HOPELESS, readError } from "./failure.ts";
import { readQuestion } from "./questions.ts";
import { addedSince, type UsedByModel } from "./usage.ts";
import { claudeWords as words } from "./words.ts";

export type ClaudeFields = Readonly<Record<string, unknown>>;

export interface Transcript {
  calls: ReadonlyMap<string, MadeCall>;
  /** Questions that wait, by the ask's id: the call each is about. */
  asks: ReadonlyMap<string, string>;
  /** The last answer was a denial, and nothing was said or called since (CLAUDE-4). */
  isDenied: boolean;
  totals: UsedByModel;
  /** The answer so far, bounded. */
  text: string;
  /** The message that comes word by word now, or came last. */
  message: StreamedMessage;
  /** What a stream told before it broke, as far as the next one hasn't repeated it (CLAUDE-3). */
  repeats: string;
  /** The next word begins a new paragraph. */
  isNewBlock: boolean;
  isRefused: boolean;
}

interface StreamedMessage {
  id: string;
  told: string;
  /** It said why it stops, and wasn't given up afterwards. */
  isWhole: boolean;
}

const NO_MESSAGE: StreamedMessage = { id: "", told: "", isWhole: true };

interface MadeCall {
  name: string;
  input: Json;
  state: "announced" | "allowed" | "ended";
}

export type ClaudeHeard =
  | { kind: "line"; line: ClaudeFields; at: number }
  /** The turn's end. `isLast`: no other turn of the run follows. */
  | { kind: "result"; line: ClaudeFields; isLast: boolean; isStopped: boolean }
  | { kind: "asked"; ask: string; request: ClaudeFields }
  | { kind: "answered"; ask: string; how: "allow" | "deny" | "said" | "withdrawn" };

export interface ClaudeTold {
  state: Transcript;
  events: RunEventBody[];
}

export function beginTranscript(totals: UsedByModel): Transcript {
  return {
    calls: new Map(),
    asks: new Map(),
    isDenied: false,
    totals,
    text: "",
    message: NO_MESSAGE,
    repeats: "",
    isNewBlock: false,
    isRefused: false,
  };
}

/** Of a tool's output and of the answer that `done` repeats; the events had all of it. */
const MOST_TEXT = 256 * 1024;
/** Two blocks of an answer aren't one paragraph. */
const BETWEEN = "\n\n";
/** How it names tools of MCP servers: `mcp__server__tool`. */
export const SERVER_TOOL = "mcp__";

export function translate(state: Transcript, heard: ClaudeHeard): ClaudeTold {
  switch (heard.kind) {
    case "line":
      return takeLine(state, heard.line, heard.at);
    case "result":
      return takeResult(state, heard);
    case "asked":
      return takeAsk(state, heard.ask, heard.request);
    case "answered":
      return takeAnswer(state, heard);
    default:
      return assertNever(heard);
  }
}

/** Whether an act of it may be under way. Only our own servers' tools are called without asking: those ask by themselves. */
export function isActing({ calls }: Transcript): boolean {
  return [...calls.values()].some(
    ({ state, name }) => state === "allowed" || (state === "announced" && name.startsWith(SERVER_TOOL)),
  );
}

function takeLine(state: Transcript, line: ClaudeFields, at: number): ClaudeTold {
  // Its own children (CLAUDE-5).
  if (typeof line.parent_tool_use_id === "string") return { state, events: [] };
  switch (line.type) {
    case "stream_event":
      return takeStream(state, asObject(line.event), line.abandoned_blocks !== undefined);
    case "assistant":
      return takeMessage(state, line);
    case "user":
      return takeResults(state, line);
    case "system":
      return takeSystem(state, line, at);
    default:
      return { state, events: [] };
  }
}

function takeStream(state: Transcript, event: ClaudeFields, isGivenUp: boolean): ClaudeTold {
  switch (event.type) {
    case "message_start":
      return startMessage(state, asObject(event.message));
    case "content_block_start": {
      const isText = asObject(event.content_block).type === "text";
      return { state: isText ? { ...state, isNewBlock: true } : state, events: [] };
    }
    case "content_block_delta": {
      const { type, text, thinking } = asObject(event.delta);
      if (type === "text_delta") return tell(state, asText(text) ?? "");
      if (type !== "thinking_delta" || typeof thinking !== "string" || thinking === "") return { state, events: [] };
      return { state: { ...state, isDenied: false }, events: [{ type: "thinking", text: thinking }] };
    }
    case "message_delta":
      return endMessage(state, asText(asObject(event.delta).stop_reason) !== undefined);
    case "message_stop":
      return isGivenUp ? endMessage(state, false) : { state, events: [] };
    default:
      return { state, events: [] };
  }
}

/** A message that begins when the one before it broke off takes its place (CLAUDE-3). */
function startMessage(state: Transcript, { id }: ClaudeFields): ClaudeTold {
  const { told, isWhole } = state.message;
  const broken = state.repeats.startsWith(told) ? state.repeats : told;
  const message = { id: asText(id) ?? "", told: "", isWhole: false };
  return { state: { ...state, message, repeats: isWhole ? "" : broken }, events: [] };
}

function endMessage(state: Transcript, isWhole: boolean): ClaudeTold {
  return { state: { ...state, message: { ...state.message, isWhole } }, events: [] };
}

function tell(state: Transcript, piece: string): ClaudeTold {
  if (piece === "") return { state, events: [] };
  const told = state.message.told + piece;
  const message = { ...state.message, told };
  const { repeats } = state;
  // ClaudeTold already, by the stream that broke.
  if (repeats.startsWith(told)) return { state: { ...state, message, isNewBlock: false }, events: [] };
  const isSame = repeats === "" || told.startsWith(repeats);
  const rest = isSame ? told.slice(Math.max(repeats.length, told.length - piece.length)) : told;
  const isApart = state.text !== "" && (isSame ? state.isNewBlock && repeats === "" : true);
  const text = isApart ? `${BETWEEN}${rest}` : rest;
  return {
    state: {
      ...state,
      message,
      repeats: isSame ? repeats : "",
      isNewBlock: false,
      isDenied: false,
      text: (state.text + text).slice(0, MOST_TEXT),
    },
    events: [{ type: "text", text }],
  };
}

/** A whole message. Its words came before, unless the program made it up or the stream was off. */
function takeMessage(state: Transcript, line: ClaudeFields): ClaudeTold {
  const message = asObject(line.message);
  let now: ClaudeTold = { state, events: [] };
  if (line.is_api_error_message === true || line.error !== undefined) return now;
  const wasStreamed = message.id === state.message.id;
  for (const block of listObjects(message.content)) {
    if (block.type === "tool_use") now = join(now, (before) => announce(before, block));
    if (wasStreamed) continue;
    if (block.type === "text") now = join(now, (before) => tellWhole(before, message, asText(block.text) ?? ""));
    if (block.type === "thinking" && typeof block.thinking === "string" && block.thinking !== "")
      now.events.push({ type: "thinking", text: block.thinking });
  }
  return now;
}

function tellWhole(state: Transcript, { model }: ClaudeFields, text: string): ClaudeTold {
  // The program's own words in the model's place.
  if (model === "<synthetic>") return { state, events: text === "" ? [] : [{ type: "notice", text }] };
  const { state: next, events } = tell({ ...state, message: NO_MESSAGE, repeats: "", isNewBlock: true }, text);
  return { state: { ...next, message: NO_MESSAGE }, events };
}

function announce(state: Transcript, block: ClaudeFields): ClaudeTold {
  const { id, name } = block;
  if (typeof id !== "string" || state.calls.has(id)) return { state, events: [] };
  const call: MadeCall = { name: asText(name) ?? "tool", input: (block.input ?? {}) as Json, state: "announced" };
  return {
    state: { ...state, calls: new Map(state.calls).set(id, call), isDenied: false },
    events: [{ type: "tool_call", call: id, name: call.name, input: call.input }],
  };
}

function takeResults(state: Transcript, line: ClaudeFields): ClaudeTold {
  if (line.isReplay === true || line.isSynthetic === true) return { state, events: [] };
  let now: ClaudeTold = { state, events: [] };
  for (const block of listObjects(asObject(line.message).content))
    if (block.type === "tool_result") now = join(now, (before) => endCall(before, block));
  return now;
}

function endCall(state: Transcript, block: ClaudeFields): ClaudeTold {
  const id = block.tool_use_id;
  const known = typeof id === "string" ? state.calls.get(id) : undefined;
  if (typeof id !== "string" || !known || known.state === "ended") return { state, events: [] };
  const result = { type: "tool_result" as const, call: id, isError: block.is_error === true, text: readOutput(block) };
  return { state: { ...state, calls: new Map(state.calls).set(id, { ...known, state: "ended" }) }, events: [result] };
}

function readOutput({ content }: ClaudeFields): string {
  if (typeof content === "string") return content.slice(0, MOST_TEXT);
  const texts = listObjects(content).map(({ type, text }) =>
    type === "text" ? (asText(text) ?? "") : `[${String(type)}]`,
  );
  return texts.join("\n").slice(0, MOST_TEXT);
}

function takeSystem(state: Transcript, line: ClaudeFields, at: number): ClaudeTold {
  switch (line.subtype) {
    case "api_retry":
      return takeRetry(state, line, at);
    case "model_refusal_no_fallback":
      return { state: { ...state, isRefused: true }, events: [] };
    case "informational": {
      const text = asText(line.content) ?? "";
      return { state, events: text === "" ? [] : [{ type: "notice", text: text.slice(0, MOST_TEXT) }] };
    }
    default:
      return { state, events: [] };
  }
}

/** It would go on for minutes with a key that nobody takes: then the run ends at once. */
function takeRetry(state: Transcript, line: ClaudeFields, at: number): ClaudeTold {
  const said = asText(line.error) ?? "";
  const failure = line.error_status === null ? "network" : classify(line.error_status, said);
  if (HOPELESS.has(failure)) {
    const error = readError({ result: said.replaceAll("_", " "), api_error_status: line.error_status });
    return { state, events: [...endAll(state), error, { type: "done", outcome: "failed", text: state.text }] };
  }
  const delay = asCount(line.retry_delay_ms);
  const retryAt = delay === undefined ? null : at + delay;
  return { state, events: [{ type: "rate_limit", failure, attempt: asCount(line.attempt) ?? 1, retryAt }] };
}

function takeAsk(state: Transcript, ask: string, request: ClaudeFields): ClaudeTold {
  const id = asText(request.tool_use_id) || ask;
  const name = asText(request.tool_name) ?? "tool";
  const input = (request.input ?? {}) as Json;
  const known = announce(state, { id, name, input });
  const asks = new Map(known.state.asks).set(ask, id);
  const summary = asText(request.description) || name;
  const question = readQuestion(request);
  const about = question ?? { kind: "tool" as const, call: id, name, input, summary, editable: true };
  return {
    state: { ...known.state, asks },
    events: [...known.events, { type: "ask", ask, about, expires: null }],
  };
}

function takeAnswer(state: Transcript, { ask, how }: Extract<ClaudeHeard, { kind: "answered" }>): ClaudeTold {
  const id = state.asks.get(ask);
  if (id === undefined) return { state, events: [] };
  const asks = new Map(state.asks);
  asks.delete(ask);
  const call = state.calls.get(id);
  const calls =
    call?.state === "announced" && how === "allow"
      ? new Map(state.calls).set(id, { ...call, state: "allowed" as const })
      : state.calls;
  return { state: { ...state, asks, calls, isDenied: how === "deny" }, events: [{ type: "answered", ask, how }] };
}

function takeResult(
  state: Transcript,
  { line, isLast, isStopped }: Extract<ClaudeHeard, { kind: "result" }>,
): ClaudeTold {
  const { total, added } = addedSince(state.totals, line);
  const events = endAll(state);
  for (const { model, usage } of added) events.push({ type: "usage", usage, basis: "priced", model });
  const end = isStopped ? { outcome: "stopped" as const, why: [] } : readEnd(state, line);
  const next: Transcript = { ...beginTranscript(total), text: state.text, isNewBlock: true };
  // What was said meanwhile is still to be answered.
  if (!isLast && end.outcome !== "failed") return { state: next, events };
  return { state: next, events: [...events, ...end.why, { type: "done", outcome: end.outcome, text: state.text }] };
}

/** CLAUDE-1, CLAUDE-4. */
function readEnd(state: Transcript, line: ClaudeFields): { outcome: RunOutcome; why: RunEventBody[] } {
  const { stop_reason: reason, subtype } = line;
  const isFailed = line.is_error === true;
  if (state.isRefused || reason === "refusal") return { outcome: "refused", why: isFailed ? [makeNote(line)] : [] };
  if (line.api_error === "max_output_tokens" || subtype === "error_max_turns" || subtype === "error_max_budget_usd")
    return { outcome: "out-of-room", why: [makeNote(line)] };
  if (state.isDenied) return { outcome: "rejected", why: [] };
  if (isFailed) return { outcome: "failed", why: [readError(line)] };
  return { outcome: reason === "max_tokens" ? "out-of-room" : "finished", why: [] };
}

function makeNote(line: ClaudeFields): RunEventBody {
  return { type: "notice", text: readError(line).text };
}

/** Nothing is left open when a turn ends. */
function endAll({ asks, calls }: Transcript): RunEventBody[] {
  const events: RunEventBody[] = [...asks.keys()].map((ask) => ({ type: "answered", ask, how: "withdrawn" }));
  for (const [call, { state }] of calls)
    if (state !== "ended") events.push({ type: "tool_result", call, isError: true, text: words.noResult });
  return events;
}

function join({ state, events }: ClaudeTold, step: (state: Transcript) => ClaudeTold): ClaudeTold {
  const next = step(state);
  return { state: next.state, events: [...events, ...next.events] };
}
