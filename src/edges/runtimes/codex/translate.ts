/**
 * From what Codex' app server says to a run's events. Pure: a state and one thing heard give the next state and the events.
 *
 * CODEX-5: tokens are counted over the whole thread, and the old count comes once more when a thread is taken up again: only what the run's
 *     own turn added is usage.
 * CODEX-6: warnings are for the person, never part of the answer.
 * CODEX-7: an answer may come in pieces, as a whole, or once more from its start after the connection was lost: people read it once.
 * CODEX-8: a call's id is the model's, and a model may use one again: each call has its own.
 * CODEX-9: a wrong key is said at once, also where Codex means to try again.
 */
import type { RunAsk, RunEventBody, RunOutcome } from "../../../core/contracts/index.ts";
import { asObject, assertNever, isObject, type Json, type JsonObject } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { readCodexFailure, readTry } from "./failure.ts";
import { asText, type CodexItem, readCall } from "./items.ts";
import { type CodexTotal, NOTHING_USED, readTotal, usedSince } from "./tokens.ts";
import { codexWords as words } from "./words.ts";

export interface CodexState {
  thread: string;
  /** The turn that runs; "" before the first. */
  turn: string;
  /** By Codex' own id. */
  calls: ReadonlyMap<string, KnownCodexCall>;
  asks: ReadonlySet<string>;
  /** The message that is being written; null before the first. */
  message: CodexMessage | null;
  /** Thoughts that came in pieces. */
  thoughts: ReadonlySet<string>;
  total: CodexTotal;
  text: string;
  /** The last answer of a person was a no, and nothing was said or called since. */
  isDenied: boolean;
  /** This turn's failure was said. */
  isFailed: boolean;
  /** It can't go on, though Codex would try (CODEX-9). */
  isFinal: boolean;
}

interface CodexMessage {
  id: string;
  /** As far as Codex has written it. */
  said: string;
  /** As far as it was passed on: more than that, while it is written once more. */
  passed: string;
  isOpen: boolean;
}

interface KnownCodexCall {
  call: string;
  name: string;
  input: Json;
  isEnded: boolean;
  /** How often this id was used before. */
  again: number;
}

export type CodexHeard =
  | { kind: "notified"; method: string; params: CodexItem }
  | { kind: "asked"; ask: string; method: string; params: CodexItem }
  | { kind: "answered"; ask: string; how: "allow" | "deny" | "said" | "withdrawn" }
  /** `isStopped`: because we asked for it. `isLast`: no other turn of the run follows. */
  | { kind: "ended"; turn: CodexItem; isStopped: boolean; isLast: boolean };

export interface CodexTranslated {
  state: CodexState;
  events: RunEventBody[];
}

export function startState(thread: string, total: CodexTotal = NOTHING_USED): CodexState {
  return {
    thread,
    turn: "",
    calls: new Map(),
    asks: new Set(),
    message: null,
    thoughts: new Set(),
    total,
    text: "",
    isDenied: false,
    isFailed: false,
    isFinal: false,
  };
}

/** Of the answer that `done` repeats; the events had all of it. */
const MOST_TEXT = 256 * 1024;
const BETWEEN = "\n\n";

export function translateCodex(state: CodexState, heard: CodexHeard): CodexTranslated {
  switch (heard.kind) {
    case "notified":
      return takeNotice(state, heard.method, heard.params);
    case "asked":
      return takeQuestion(state, heard);
    case "answered":
      return takeAnswer(state, heard);
    case "ended":
      return takeEnd(state, heard);
    default:
      return assertNever(heard);
  }
}

type NoticeReader = (state: CodexState, params: CodexItem) => CodexTranslated;

/** By method. What isn't here says nothing that a run's record needs. */
const NOTICES: Readonly<Record<string, NoticeReader>> = {
  "turn/started": (state, { turn }) => quiet({ ...state, turn: asText(asObject(turn).id), isFailed: false }),
  "item/started": (state, { item }) => announce(state, asObject(item)),
  "item/completed": (state, { item }) => complete(state, asObject(item)),
  "item/agentMessage/delta": (state, { itemId, delta }) => speakOn(state, asText(itemId), asText(delta)),
  "item/reasoning/summaryTextDelta": (state, { itemId, delta }) => think(state, asText(itemId), asText(delta)),
  "item/reasoning/textDelta": (state, { itemId, delta }) => think(state, asText(itemId), asText(delta)),
  "item/reasoning/summaryPartAdded": (state, { itemId, summaryIndex }) =>
    Number(summaryIndex) > 0 ? think(state, asText(itemId), BETWEEN) : quiet(state),
  "item/commandExecution/outputDelta": takeProgress,
  "item/fileChange/outputDelta": takeProgress,
  "item/mcpToolCall/progress": (state, { itemId, message }) => takeProgress(state, { itemId, delta: message }),
  "thread/tokenUsage/updated": countTokens,
  "turn/plan/updated": (state, { plan }) => ({ state, events: [{ type: "plan", steps: readSteps(plan) }] }),
  error: takeError,
  warning: (state, { message }) => warn(state, asText(message)),
  guardianWarning: (state, { message }) => warn(state, asText(message)),
  configWarning: (state, { summary }) =>
    warn(state, asText(summary).startsWith("Project-local config") ? words.ownSettings : asText(summary)),
  "model/rerouted": (state, { fromModel, toModel }) => warn(state, words.rerouted(asText(fromModel), asText(toModel))),
  "mcpServer/startupStatus/updated": (state, { name, status, error }) =>
    status === "failed" ? warn(state, words.toolsUnreachable(asText(name), asText(error))) : quiet(state),
};

/** All that is listened to while a turn runs. */
export const CODEX_NOTICES: readonly string[] = Object.keys(NOTICES);

function takeNotice(state: CodexState, method: string, params: CodexItem): CodexTranslated {
  // Another thread in the same process isn't this run.
  const isForeign = typeof params.threadId === "string" && params.threadId !== state.thread && state.thread !== "";
  if (isForeign || !Object.hasOwn(NOTICES, method)) return quiet(state);
  return NOTICES[method]!(state, params);
}

function announce(state: CodexState, item: CodexItem): CodexTranslated {
  const id = asText(item.id);
  if (item.type === "agentMessage") return quiet({ ...state, message: beginMessage(state, id) });
  const read = readCall(item);
  const before = state.calls.get(id);
  if (!read || id === "" || (before && !before.isEnded)) return quiet(state);
  const again = before ? before.again + 1 : 0;
  const known = { ...read, call: again === 0 ? id : `${id}-again-${again}`, isEnded: false, again };
  const calls = new Map(state.calls).set(id, known);
  const event = { type: "tool_call" as const, call: known.call, name: read.name, input: read.input };
  return { state: { ...state, calls, isDenied: false }, events: [event] };
}

function complete(state: CodexState, item: CodexItem): CodexTranslated {
  const id = asText(item.id);
  if (item.type === "agentMessage") {
    const message = state.message?.id === id ? state.message : beginMessage(state, id);
    return speak(state, { ...message, said: asText(item.text), isOpen: false });
  }
  if (item.type === "reasoning") {
    const parts = [item.summary, item.content].flatMap((one) => (Array.isArray(one) ? one.map(asText) : []));
    return state.thoughts.has(id) ? quiet(state) : think(state, id, parts.join(BETWEEN));
  }
  const read = readCall(item);
  if (!read) return quiet(state);
  const isNew = !state.calls.has(id);
  const before = isNew ? announce(state, item) : quiet(state);
  const known = before.state.calls.get(id);
  if (!known || known.isEnded) return quiet(state);
  const calls = new Map(before.state.calls).set(id, { ...known, isEnded: true });
  const result = { type: "tool_result" as const, call: known.call, isError: read.isError, text: read.text };
  return { state: { ...before.state, calls }, events: [...before.events, result] };
}

/** One that was cut off begins again, under the same id or another. */
function beginMessage({ message }: CodexState, id: string): CodexMessage {
  return { id, said: "", passed: message?.isOpen ? message.passed : "", isOpen: true };
}

function speakOn(state: CodexState, id: string, piece: string): CodexTranslated {
  const message = state.message?.id === id ? state.message : beginMessage(state, id);
  return speak(state, { ...message, said: message.said + piece });
}

/** Passes on what of the message is new (CODEX-7). */
function speak(state: CodexState, message: CodexMessage): CodexTranslated {
  const { said, passed } = message;
  const isKnown = passed.startsWith(said);
  if (isKnown) return quiet({ ...state, message: message.isOpen ? message : { ...message, passed: said } });
  const isSame = said.startsWith(passed);
  // Two messages of one run aren't one paragraph, and neither are two beginnings of one.
  const between = state.text !== "" && (passed === "" || !isSame) ? BETWEEN : "";
  const text = `${between}${isSame ? said.slice(passed.length) : said}`;
  const next = { ...message, passed: said };
  const whole = (state.text + text).slice(0, MOST_TEXT);
  return { state: { ...state, message: next, text: whole, isDenied: false }, events: [{ type: "text", text }] };
}

function think(state: CodexState, id: string, text: string): CodexTranslated {
  if (text === "") return quiet(state);
  const thoughts = new Set(state.thoughts).add(id);
  return { state: { ...state, thoughts }, events: [{ type: "thinking", text }] };
}

function takeProgress(state: CodexState, { itemId, delta }: CodexItem): CodexTranslated {
  const known = state.calls.get(asText(itemId));
  const text = asText(delta);
  if (!known || known.isEnded || text === "") return quiet(state);
  return { state, events: [{ type: "tool_progress", call: known.call, text }] };
}

function countTokens(state: CodexState, { turnId, tokenUsage }: CodexItem): CodexTranslated {
  const total = readTotal(asObject(tokenUsage).total);
  const usage = usedSince(state.total, total);
  const isOld = state.turn === "" || turnId !== state.turn;
  if (isOld || !usage) return quiet({ ...state, total });
  return { state: { ...state, total }, events: [{ type: "usage", usage, basis: "guessed", model: null }] };
}

function takeError(state: CodexState, { error, willRetry }: CodexItem): CodexTranslated {
  const { isFinal, ...failure } = readCodexFailure(error);
  if (willRetry === true && !isFinal) {
    const attempt = readTry(asObject(error).message);
    return { state, events: [{ type: "rate_limit", failure: failure.failure, attempt, retryAt: null }] };
  }
  if (state.isFailed) return quiet(state);
  const next = { ...state, isFailed: true, isFinal: willRetry === true };
  return { state: next, events: [{ type: "error", ...failure }] };
}

type QuestionReader = (state: CodexState, params: CodexItem) => { id: string; item: CodexItem; more?: JsonObject };

/** Requests for permission, as the item each is about. */
const PERMISSIONS: Readonly<Record<string, QuestionReader>> = {
  "item/commandExecution/requestApproval": (_, { itemId, command, cwd, reason, networkApprovalContext }) => ({
    id: asText(itemId),
    item: { type: "commandExecution", id: itemId, command, cwd },
    // It may ask to leave its own sandbox, and says so here at most.
    more: defined({ reason: asText(reason) || undefined, network: asFields(networkApprovalContext) }),
  }),
  "item/fileChange/requestApproval": (_, { itemId, reason, grantRoot }) => ({
    id: asText(itemId),
    item: { type: "fileChange", id: itemId },
    more: defined({ reason: asText(reason) || undefined, root: asText(grantRoot) || undefined }),
  }),
  "mcpServer/elicitation/request": (state, { serverName, _meta }) => {
    const { tool_params } = asObject(_meta);
    const start = `mcp__${asText(serverName)}__`;
    const open = [...state.calls].filter(([, one]) => !one.isEnded && one.name.startsWith(start));
    const input = JSON.stringify(tool_params ?? {});
    const found = open.find(([, one]) => JSON.stringify(one.input) === input) ?? open.at(-1);
    const id = found?.[0] ?? `mcp-${state.calls.size + 1}`;
    return { id, item: { type: "mcpToolCall", id, server: serverName, tool: "", arguments: tool_params } };
  },
};

/** A server's question to the person, not Codex' question about a call. */
export function isPermission(method: string, params: CodexItem): boolean {
  if (!Object.hasOwn(PERMISSIONS, method)) return false;
  if (method !== "mcpServer/elicitation/request") return true;
  return asText(asObject(params._meta).codex_approval_kind) !== "";
}

function takeQuestion(
  state: CodexState,
  { ask, method, params }: Extract<CodexHeard, { kind: "asked" }>,
): CodexTranslated {
  const asks = new Set(state.asks).add(ask);
  if (!isPermission(method, params)) {
    const about: RunAsk = { kind: "question", text: readQuestion(params), schema: readSchema(params) };
    return { state: { ...state, asks }, events: [{ type: "ask", ask, about, expires: null }] };
  }
  const { id, item, more } = PERMISSIONS[method]!(state, params);
  const before = announce(state, item);
  const known = before.state.calls.get(id) ?? { call: id, name: "tool", input: {} };
  const input = isObject(known.input) ? { ...known.input, ...more } : known.input;
  const summary = asText(params.command) || asText(params.message) || known.name;
  const about: RunAsk = { kind: "tool", call: known.call, name: known.name, input, summary, editable: false };
  const event: RunEventBody = { type: "ask", ask, about, expires: null };
  return { state: { ...before.state, asks }, events: [...before.events, event] };
}

function readQuestion({ message, questions }: CodexItem): string {
  if (!Array.isArray(questions)) return asText(message);
  return questions.map((one) => asText(asObject(one).question)).join("\n");
}

function readSchema({ requestedSchema }: CodexItem): JsonObject | null {
  return isObject(requestedSchema) ? (requestedSchema as JsonObject) : null;
}

function takeAnswer(state: CodexState, { ask, how }: Extract<CodexHeard, { kind: "answered" }>): CodexTranslated {
  if (!state.asks.has(ask)) return quiet(state);
  const asks = new Set(state.asks);
  asks.delete(ask);
  return { state: { ...state, asks, isDenied: how === "deny" }, events: [{ type: "answered", ask, how }] };
}

const OUTCOMES: Readonly<Record<string, RunOutcome>> = {
  completed: "finished",
  interrupted: "stopped",
  failed: "failed",
};

function takeEnd(
  state: CodexState,
  { turn, isStopped, isLast }: Extract<CodexHeard, { kind: "ended" }>,
): CodexTranslated {
  const events: RunEventBody[] = [...state.asks].map((ask) => ({ type: "answered", ask, how: "withdrawn" }));
  const calls = new Map(state.calls);
  for (const [id, one] of state.calls) {
    if (one.isEnded) continue;
    calls.set(id, { ...one, isEnded: true });
    events.push({ type: "tool_result", call: one.call, isError: true, text: words.noResult });
  }
  const given = OUTCOMES[String(turn.status)] ?? "failed";
  // It gives up after many denials, and says only that it was interrupted.
  const own = given === "stopped" && state.isDenied ? "rejected" : given;
  const outcome = isStopped ? "stopped" : own;
  if (outcome === "failed" && !state.isFailed) {
    const { isFinal: _, ...failure } = readCodexFailure(turn.error);
    events.push({ type: "error", ...failure });
  }
  const next = { ...state, calls, asks: new Set<string>(), turn: "", isDenied: false };
  if (isLast || outcome !== "finished") events.push({ type: "done", outcome, text: state.text });
  return { state: next, events };
}

function readSteps(plan: unknown): Extract<RunEventBody, { type: "plan" }>["steps"] {
  if (!Array.isArray(plan)) return [];
  return plan.map((one) => {
    const { step, status } = asObject(one);
    return { text: asText(step), state: STEPS[asText(status)] ?? ("open" as const) };
  });
}

const STEPS: Readonly<Record<string, "open" | "doing" | "done">> = {
  pending: "open",
  inProgress: "doing",
  completed: "done",
};

function warn(state: CodexState, text: string): CodexTranslated {
  return { state, events: text === "" ? [] : [{ type: "notice", text }] };
}

function asFields(value: unknown): JsonObject | undefined {
  return isObject(value) ? (value as JsonObject) : undefined;
}

function quiet(state: CodexState): CodexTranslated {
  return { state, events: [] };
}
