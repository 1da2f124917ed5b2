/**
 * From what OpenClaw's gateway says to a run's events. Pure: a state and one thing heard give the next state and the events.
 *
 * CLAW-3: a piece of an answer comes twice, as `agent` and as `chat`: only the first counts. It carries the whole message so far, so a
 *     piece that was missed comes with the next one. What was said beside a tool call comes only with the stored message.
 * CLAW-4: a second message while a run is at work is steered into it: it has its own number, and its end, which comes at once and is
 *     empty, is not the run's.
 * CLAW-5: who wasn't connected when a run began gets no `tool` events of it: the `item` events tell the same, less well.
 * CLAW-6: usage is counted once for each stored message, whichever way that message came.
 * CLAW-7: a try that failed revokes what it said; that stays said.
 */
import type { RunEventBody, RunOutcome } from "../../../core/contracts/index.ts";
import { asCount, asList, asNumber, asObject, asText, type Json, NO_USAGE } from "../../../core/domain/index.ts";
import { readClawFailure, readReason } from "./failure.ts";
import { nameStored } from "./token.ts";
import { clawWords as words } from "./words.ts";

export interface ClawState {
  /** Of our messages: those whose end hasn't come. */
  open: ReadonlySet<string>;
  /** The last number that was heard of each. */
  heard: ReadonlyMap<string, number>;
  calls: ReadonlyMap<string, ClawCall>;
  asks: ReadonlyMap<string, "open" | "answered">;
  /** Stored messages that were counted (CLAW-6). */
  counted: ReadonlySet<string>;
  /** So many of the first ones an earlier attempt has counted. */
  countedBefore: number;
  /** The answer so far, bounded. */
  text: string;
  /** Of the message that is being written: what was said of it. */
  current: string;
  /** How the last of our messages that ended, ended. */
  end: ClawEnd | null;
}

interface ClawCall {
  name: string;
  input: Json;
  isEnded: boolean;
  /** What a command printed, for who doesn't get its result. */
  printed: string;
}

export interface ClawEnd {
  outcome: RunOutcome;
  error: Omit<Extract<RunEventBody, { type: "error" }>, "type"> | null;
}

export type ClawFields = Readonly<Record<string, unknown>>;

export type ClawHeard =
  | { kind: "event"; name: string; payload: ClawFields; at: number }
  | { kind: "answered"; ask: string; how: "allow" | "deny" | "withdrawn" }
  /** What is stored of the conversation, and what is at work: after a gap, or to take up a run. */
  | { kind: "history"; run: string; history: ClawFields; at: number };

export interface ClawSaid {
  state: ClawState;
  events: RunEventBody[];
}

const MOST_TEXT = 256 * 1024;
const BETWEEN = "\n\n";

/** A run whose events up to here are known, from an earlier attempt. */
export function startClaw(known: readonly RunEventBody[] = []): ClawState {
  const calls = new Map<string, ClawCall>();
  const asks = new Map<string, "open" | "answered">();
  let text = "";
  const countedBefore = known.filter(({ type }) => type === "usage").length;
  for (const one of known) {
    if (one.type === "text") text += one.text;
    if (one.type === "tool_call")
      calls.set(one.call, { name: one.name, input: one.input, isEnded: false, printed: "" });
    if (one.type === "tool_result") calls.set(one.call, { name: "", input: {}, isEnded: true, printed: "" });
    // One that nobody answered is asked again: its answer may have been lost with the process.
    if (one.type === "answered") asks.set(one.ask, "answered");
  }
  return {
    open: new Set(),
    heard: new Map(),
    calls,
    asks,
    counted: new Set(),
    countedBefore,
    text,
    current: "",
    end: null,
  };
}

/** A message of ours goes out. */
export function sent(state: ClawState, run: string): ClawState {
  return { ...state, open: new Set(state.open).add(run), end: null };
}

/** Nothing more is expected of it. */
export function dropped(state: ClawState, run: string, end: ClawEnd | null): ClawState {
  return close(state, run, end).state;
}

export function translateClaw(state: ClawState, heard: ClawHeard): ClawSaid {
  if (heard.kind === "answered") return takeAnswer(state, heard.ask, heard.how);
  if (heard.kind === "history") return takeHistory(state, heard);
  const { name, payload } = heard;
  if (!Object.hasOwn(EVENTS, name)) return nothing(state);
  return EVENTS[name]!(state, payload, heard.at);
}

type ClawReader = (state: ClawState, payload: ClawFields, at: number) => ClawSaid;

const EVENTS: Readonly<Record<string, ClawReader>> = {
  agent: takeAgent,
  chat: takeChat,
  "session.message": (state, { message }) => takeMessage(state, asObject(message)),
  "exec.approval.requested": takeQuestion,
  "exec.approval.resolved"(state, { id, decision }) {
    const how = decision === "deny" ? "deny" : "allow";
    return takeAnswer(state, String(id), decision === null || decision === undefined ? "withdrawn" : how);
  },
};

function takeAgent(state: ClawState, payload: ClawFields, at: number): ClawSaid {
  const run = String(payload.runId);
  const seq = asNumber(payload.seq) ?? 0;
  const stream = String(payload.stream);
  if (!state.open.has(run) || !Object.hasOwn(STREAMS, stream)) return nothing(state);
  // What a history repeats (CLAW-5: gaps are no sign of a loss).
  if (seq <= (state.heard.get(run) ?? 0)) return nothing(state);
  const next = { ...state, heard: new Map(state.heard).set(run, seq) };
  return STREAMS[stream]!(next, asObject(payload.data), at);
}

const STREAMS: Readonly<Record<string, ClawReader>> = {
  assistant: (state, { text, delta }) => sayMessage(state, asText(text) ?? state.current + (asText(delta) ?? "")),
  thinking(state, { delta }) {
    const text = asText(delta) ?? "";
    return text === "" ? nothing(state) : { state, events: [{ type: "thinking", text }] };
  },
  tool(state, data) {
    const id = String(data.toolCallId);
    if (data.phase === "start") return takeCall(state, id, String(data.name), (data.args ?? {}) as Json);
    return data.phase === "result"
      ? takeResult(state, id, readText(data.result), data.isError === true)
      : nothing(state);
  },
  item(state, data) {
    if (data.kind !== "tool" || data.phase !== "end") return nothing(state);
    const id = String(data.toolCallId);
    const known = takeCall(state, id, String(data.name), {});
    const ended = takeResult(known.state, id, asText(data.error) ?? "", data.status === "failed");
    return { state: ended.state, events: [...known.events, ...ended.events] };
  },
  command_output(state, { toolCallId, phase, output }) {
    const call = state.calls.get(String(toolCallId));
    if (!call || call.isEnded || phase === "end") return nothing(state);
    const printed = (call.printed + (asText(output) ?? "")).slice(0, MOST_TEXT);
    return nothing({ ...state, calls: new Map(state.calls).set(String(toolCallId), { ...call, printed }) });
  },
  run_status(state, { phase, reason, attempt, delayMs }, at) {
    if (phase !== "retrying") return nothing(state);
    const failure = readReason(reason) ?? "unknown";
    const retryAt = asNumber(delayMs) === undefined ? null : at + Number(delayMs);
    return { state, events: [{ type: "rate_limit", failure, attempt: asCount(attempt) ?? 1, retryAt }] };
  },
};

/** The message that is being written, whole so far (CLAW-3). */
function sayMessage(state: ClawState, whole: string): ClawSaid {
  // CLAW-7
  if (!whole.startsWith(state.current))
    return whole === "" ? nothing(closeMessage(state)) : sayMessage(closeMessage(state), whole);
  const added = whole.slice(state.current.length);
  if (added === "") return nothing(state);
  const text = state.current === "" && state.text !== "" ? BETWEEN + added : added;
  const next = { ...state, current: whole, text: (state.text + text).slice(0, MOST_TEXT) };
  return { state: next, events: [{ type: "text", text }] };
}

function closeMessage(state: ClawState): ClawState {
  return { ...state, current: "" };
}

/** A message as it is stored: the whole of it, and what it cost. */
function takeMessage(state: ClawState, message: ClawFields): ClawSaid {
  const { runId, id } = asObject(message.__openclaw);
  if (message.role !== "assistant" || !state.open.has(String(runId)) || state.counted.has(String(id)))
    return nothing(state);
  const said = sayMessage(state, readText(message));
  const counted = new Set(said.state.counted).add(String(id));
  const called = announceCalls({ ...closeMessage(said.state), counted }, message);
  return { state: called.state, events: [...said.events, ...called.events, ...readUsage(message)] };
}

function announceCalls(state: ClawState, { content }: ClawFields): ClawSaid {
  const events: RunEventBody[] = [];
  let next = state;
  for (const part of asList(content).map(asObject)) {
    if (part.type !== "toolCall") continue;
    const said = takeCall(next, String(part.id), String(part.name), (part.arguments ?? {}) as Json);
    next = said.state;
    events.push(...said.events);
  }
  return { state: next, events };
}

function takeCall(state: ClawState, id: string, name: string, input: Json): ClawSaid {
  if (state.calls.has(id)) return nothing(state);
  const calls = new Map(state.calls).set(id, { name, input, isEnded: false, printed: "" });
  return { state: { ...state, calls }, events: [{ type: "tool_call", call: id, name, input }] };
}

function takeResult(state: ClawState, id: string, text: string, isError: boolean): ClawSaid {
  const call = state.calls.get(id);
  if (!call || call.isEnded) return nothing(state);
  const calls = new Map(state.calls).set(id, { ...call, isEnded: true, printed: "" });
  const said = text === "" ? call.printed : text.slice(0, MOST_TEXT);
  return { state: { ...state, calls }, events: [{ type: "tool_result", call: id, isError, text: said }] };
}

function takeQuestion(state: ClawState, { id, request, expiresAtMs }: ClawFields): ClawSaid {
  const ask = String(id);
  const asked = asObject(request);
  if (!state.open.has(String(asked.runId)) || state.asks.has(ask)) return nothing(state);
  const call = asText(asked.toolCallId) ?? `ask-${ask}`;
  const input = { command: String(asked.command ?? "") };
  const known = takeCall(state, call, "exec", input);
  const summary = input.command;
  // The question names what the gateway will run; the call may have said less.
  const about = { kind: "tool" as const, call, name: "exec", input, summary, editable: false };
  const expires = asNumber(expiresAtMs) ?? null;
  const asks = new Map(known.state.asks).set(ask, "open" as const);
  return { state: { ...known.state, asks }, events: [...known.events, { type: "ask", ask, about, expires }] };
}

function takeAnswer(state: ClawState, ask: string, how: "allow" | "deny" | "withdrawn"): ClawSaid {
  if (state.asks.get(ask) !== "open") return nothing(state);
  const asks = new Map(state.asks).set(ask, "answered" as const);
  return { state: { ...state, asks }, events: [{ type: "answered", ask, how }] };
}

const STOPS: Readonly<Record<string, RunOutcome>> = {
  length: "out-of-room",
  max_tokens: "out-of-room",
  refusal: "refused",
  sensitive: "refused",
};

function takeChat(state: ClawState, payload: ClawFields): ClawSaid {
  const run = String(payload.runId);
  if (!state.open.has(run)) return nothing(state);
  const reason = String(payload.stopReason);
  if (payload.state === "error") return close(state, run, { outcome: "failed", error: readClawFailure(payload) });
  if (payload.state === "aborted") return close(state, run, { outcome: "stopped", error: null });
  if (payload.state !== "final") return nothing(state);
  const message = asObject(payload.message);
  // CLAW-4: the empty end of words that were steered into another run.
  if (payload.message === undefined && (state.open.size > 1 || state.end)) return close(state, run, null);
  const outcome = Object.hasOwn(STOPS, reason) ? STOPS[reason]! : "finished";
  const said = sayLast(state, readText(message));
  const closed = close(said.state, run, { outcome, error: null });
  return { state: closed.state, events: [...said.events, ...closed.events] };
}

/** The end repeats the last message, or says what no message did: a command's answer, or a warning. */
function sayLast(state: ClawState, text: string): ClawSaid {
  if (text === "" || state.text.endsWith(text)) return nothing(state);
  if (WARNING.test(text)) return { state, events: [{ type: "notice", text }] };
  return state.text === "" ? sayMessage(state, text) : nothing(state);
}

/** Its own words among the model's. */
const WARNING = /^⚠/u;

function close(state: ClawState, run: string, end: ClawEnd | null): ClawSaid {
  const open = new Set(state.open);
  open.delete(run);
  return nothing({ ...state, open, end: end ?? state.end });
}

/** CLAW-5, CLAW-6 */
function takeHistory(state: ClawState, { run, history, at }: Extract<ClawHeard, { kind: "history" }>): ClawSaid {
  const stored = asList(history.messages).map(asObject);
  const mine = stored.filter((one) => one.role === "assistant" && asObject(one.__openclaw).runId === run);
  const working = asObject(history.inFlightRun);
  const isWorking = working.runId === run;
  // What it writes is in both places for a moment.
  const buffered = isWorking ? (asText(working.text) ?? "") : "";
  const writing = buffered === readText(mine.at(-1)) ? "" : buffered;
  const events: RunEventBody[] = [];
  let next = state;
  const add = ({ state: after, events: said }: ClawSaid) => {
    next = after;
    events.push(...said);
  };
  // What was said before is known as one text: only what follows it is new.
  const whole = [...mine.map(readText), writing].filter((text) => text !== "").join(BETWEEN);
  const missed = whole.startsWith(state.text) ? whole.slice(state.text.length) : "";
  if (missed !== "") events.push({ type: "text", text: missed });
  next = { ...next, text: (next.text + missed).slice(0, MOST_TEXT), current: writing };
  for (const one of mine.filter(({ __openclaw }) => !next.counted.has(String(asObject(__openclaw).id)))) {
    const isCounted = next.countedBefore > 0;
    const counted = new Set(next.counted).add(String(asObject(one.__openclaw).id));
    next = { ...next, counted, countedBefore: isCounted ? next.countedBefore - 1 : 0 };
    add(announceCalls(next, one));
    if (!isCounted) events.push(...readUsage(one));
  }
  for (const one of asList(working.events).map(asObject)) if (one.stream !== "assistant") add(takeAgent(next, one, at));
  return { state: next, events };
}

export interface StoredRun {
  /** Our message arrived. */
  isKnown: boolean;
  isWorking: boolean;
  /** How it ended, where the last stored message says so. */
  end: ClawEnd | null;
}

/** How far a message of ours came, from what is stored. */
export function readStored(history: ClawFields, run: string): StoredRun {
  const stored = asList(history.messages).map(asObject);
  const isKnown = stored.some(({ idempotencyKey }) => idempotencyKey === nameStored(run));
  const isWorking = asObject(history.inFlightRun).runId === run;
  const last = stored.findLast((one) => one.role === "assistant" && asObject(one.__openclaw).runId === run);
  const reason = String(last?.stopReason);
  const ends: Record<string, RunOutcome> = { ...STOPS, stop: "finished", aborted: "stopped" };
  const outcome = Object.hasOwn(ends, reason) ? ends[reason] : undefined;
  return { isKnown, isWorking, end: outcome && !isWorking ? { outcome, error: null } : null };
}

/** The whole of a run's end: what is open is closed. */
export function endClaw(state: ClawState, { outcome, error }: ClawEnd): RunEventBody[] {
  const events: RunEventBody[] = [];
  for (const [ask, how] of state.asks) if (how === "open") events.push({ type: "answered", ask, how: "withdrawn" });
  for (const [call, one] of state.calls)
    if (!one.isEnded) events.push({ type: "tool_result", call, isError: true, text: one.printed || words.noResult });
  if (error) events.push({ type: "error", ...error });
  return [...events, { type: "done", outcome, text: state.text }];
}

function readUsage({ usage, provider, model }: ClawFields): RunEventBody[] {
  const { input, output, cacheRead, cacheWrite, cost } = asObject(usage);
  const inputTokens = asCount(input) ?? 0;
  const outputTokens = asCount(output) ?? 0;
  if (inputTokens + outputTokens === 0) return [];
  const counted = {
    ...NO_USAGE,
    inputTokens,
    outputTokens,
    cacheReadTokens: asCount(cacheRead) ?? 0,
    cacheWriteTokens: asCount(cacheWrite) ?? 0,
    cost: asNumber(asObject(cost).total) ?? null,
  };
  const name = [provider, model].map((one) => asText(one) ?? "").filter((one) => one !== "");
  return [{ type: "usage", usage: counted, basis: "priced", model: name.length === 2 ? name.join("/") : null }];
}

/** The text of a message or of a tool's result. */
function readText(given: unknown): string {
  const { content } = asObject(given);
  if (typeof content === "string") return content;
  return asList(content)
    .map(asObject)
    .map((part) => (part.type === "text" ? (asText(part.text) ?? "") : ""))
    .join("");
}

function nothing(state: ClawState): ClawSaid {
  return { state, events: [] };
}
