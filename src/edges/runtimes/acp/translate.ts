/**
 * From what an ACP agent says to a run's events. Pure: a state and one thing heard give the next state and the events. Everything that
 * agents do differently from the protocol's text is handled here, and each such trap has a row in the test.
 *
 * ACPRUN-1: while a conversation is loaded, its history comes as ordinary updates: nothing of it is an event.
 * ACPRUN-2: a call is announced once, with its input: some agents announce it empty and tell the input later, some only in the request
 *     for permission, some not before its result. It has one result at most.
 * ACPRUN-3: money and tokens that an agent adds up become what was added (RUNTIME-7).
 * ACPRUN-4: a turn that ends with nothing said after a denial ended because of it.
 * ACPRUN-5: one agent says that its model failed as if that were the answer. Where no tokens were counted, it is the failure.
 */
import type { RunEventBody, RunOutcome } from "../../../core/contracts/index.ts";
import { assertNever, isObject, type Json, NO_USAGE, type Usage } from "../../../core/domain/index.ts";
import { readFailure } from "./failure.ts";
import { type AcpFields, asFields } from "./fields.ts";
import type { AcpProfile } from "./profile.ts";
import { readTokens, type TokenCount } from "./tokens.ts";

export interface Translation {
  /** The history is being replayed (ACPRUN-1). */
  isReplaying: boolean;
  calls: ReadonlyMap<string, KnownCall>;
  /** Permission requests that wait, by the ask's id: the call each is about. */
  asks: ReadonlyMap<string, string>;
  /** The last answer was a denial, and nothing was said or called since (ACPRUN-4). */
  isDenied: boolean;
  /** Money of the session so far, as the agent adds it up. */
  cost: number;
  tokens: TokenCount;
  /** The answer so far, bounded. */
  text: string;
}

interface KnownCall {
  name: string;
  input: Json;
  state: "held" | "announced" | "ended";
}

export type AcpHeard =
  | { kind: "loading" }
  | { kind: "loaded" }
  | { kind: "update"; update: unknown }
  | { kind: "asked"; ask: string; request: unknown }
  | { kind: "answered"; ask: string; how: "allow" | "deny" | "said" | "withdrawn" }
  /** The prompt was answered. `isLast`: no other prompt of the run follows. */
  | { kind: "ended"; result: unknown; isLast: boolean }
  | { kind: "failed"; code: number; message: string };

export interface Translated {
  state: Translation;
  events: RunEventBody[];
}

export const UNSPOKEN: Translation = {
  isReplaying: false,
  calls: new Map(),
  asks: new Map(),
  isDenied: false,
  cost: 0,
  tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  text: "",
};

/** Of a tool's output and of the answer that `done` repeats; the events had all of it. */
const MOST_TEXT = 256 * 1024;

export function translate(profile: AcpProfile, state: Translation, heard: AcpHeard): Translated {
  switch (heard.kind) {
    case "loading":
      return { state: { ...state, isReplaying: true }, events: [] };
    case "loaded":
      return { state: { ...state, isReplaying: false }, events: [] };
    case "update":
      return takeUpdate(profile, state, asFields(heard.update));
    case "asked":
      return takeQuestion(state, heard.ask, asFields(heard.request));
    case "answered":
      return takeAnswer(state, heard);
    case "ended":
      return takeEnd(profile, state, asFields(heard.result), heard.isLast);
    case "failed":
      return takeFailure(state, heard);
    default:
      return assertNever(heard);
  }
}

type UpdateReader = (profile: AcpProfile, state: Translation, update: AcpFields) => Translated;

/** By kind of update. A kind that isn't here says nothing that a run's record needs: modes, commands, titles. */
const UPDATES: Readonly<Record<string, UpdateReader>> = {
  agent_message_chunk(profile, state, update) {
    const text = readText(update.content);
    const chunks = readChunkTokens(profile, state, update);
    if (text === "") return chunks;
    if (profile.warnings.some((start) => text.startsWith(start))) return add(chunks, { type: "notice", text });
    const said = { ...chunks.state, isDenied: false, text: (state.text + text).slice(0, MOST_TEXT) };
    return add({ ...chunks, state: said }, { type: "text", text });
  },
  agent_thought_chunk(profile, state, update) {
    const text = readText(update.content);
    const chunks = readChunkTokens(profile, state, update);
    return text === "" ? chunks : add(chunks, { type: "thinking", text });
  },
  tool_call: (_, state, update) => takeCall(state, update),
  tool_call_update: (_, state, update) => takeCall(state, update),
  plan(_, state, { entries }) {
    if (!Array.isArray(entries)) return { state, events: [] };
    const steps = entries.map(asFields).map(({ content, status }) => ({
      text: String(content ?? ""),
      state: STEPS[String(status)] ?? ("open" as const),
    }));
    return { state, events: [{ type: "plan", steps }] };
  },
  usage_update(profile, state, { cost }) {
    const { amount, currency } = asFields(cost);
    if (!profile.money || typeof amount !== "number" || (currency ?? "USD") !== "USD") return { state, events: [] };
    const added = amount - state.cost;
    // A smaller total is a new count: its process was replaced.
    const since = added < 0 ? amount : added;
    if (since === 0) return { state, events: [] };
    return add({ state: { ...state, cost: amount }, events: [] }, usageEvent({ cost: since }, "billed"));
  },
  notice(_, state, { title, description }) {
    const text = [title, description].filter((part) => typeof part === "string" && part !== "").join("\n");
    return { state, events: text === "" ? [] : [{ type: "notice", text }] };
  },
};

const STEPS: Readonly<Record<string, "open" | "doing" | "done">> = {
  pending: "open",
  in_progress: "doing",
  completed: "done",
};

function takeUpdate(profile: AcpProfile, state: Translation, update: AcpFields): Translated {
  if (state.isReplaying) return { state, events: [] };
  const kind = String(update.sessionUpdate);
  return Object.hasOwn(UPDATES, kind) ? UPDATES[kind]!(profile, state, update) : { state, events: [] };
}

/** A call's announcement or any later word about it: agents leave out either, so both are read the same way (ACPRUN-2). */
function takeCall(state: Translation, update: AcpFields): Translated {
  const id = update.toolCallId;
  if (typeof id !== "string") return { state, events: [] };
  const before = state.calls.get(id);
  if (before?.state === "ended") return { state, events: [] };
  const input = joinInput(before?.input, update.rawInput);
  const name = readName(update) ?? before?.name ?? "tool";
  const isEnded = update.status === "completed" || update.status === "failed";
  const text = readOutput(update);
  // Its input may still grow: one agent announces the folder first and the command later.
  const isHeld = !isEnded && before?.state !== "announced" && update.status !== "in_progress";
  const events: RunEventBody[] = [];
  if (!isHeld && before?.state !== "announced") events.push({ type: "tool_call", call: id, name, input });
  if (isEnded) events.push({ type: "tool_result", call: id, isError: update.status === "failed", text });
  else if (before?.state === "announced" && text !== "") events.push({ type: "tool_progress", call: id, text });
  const known = isEnded ? "ended" : "announced";
  const calls = new Map(state.calls).set(id, { name, input, state: isHeld ? "held" : known });
  // A denied call fails: that alone doesn't mean that the turn went on.
  return { state: { ...state, calls, isDenied: state.isDenied && before !== undefined }, events };
}

function takeQuestion(state: Translation, ask: string, request: AcpFields): Translated {
  const call = asFields(request.toolCall);
  const id = findCall(state, call);
  // The request may know more than the announcement did; a call that was never announced is announced now.
  const { state: known, events } = takeCall(state, { ...call, toolCallId: id, status: "in_progress", content: [] });
  const { name, input } = known.calls.get(id)!;
  const summary = typeof call.title === "string" && call.title !== "" ? call.title : name;
  const about = { kind: "tool" as const, call: id, name, input, summary, editable: false };
  const asks = new Map(known.asks).set(ask, id);
  return { state: { ...known, asks }, events: [...events, { type: "ask", ask, about, expires: null }] };
}

/** The call that permission is asked for. One agent numbers its requests apart from its calls: then the command tells. */
function findCall({ calls }: Translation, call: AcpFields): string {
  const id = typeof call.toolCallId === "string" && call.toolCallId !== "" ? call.toolCallId : "call";
  if (calls.has(id)) return id;
  const command = readCommand(call.rawInput) ?? call.title;
  const same = [...calls].filter(([, one]) => one.state !== "ended" && readCommand(one.input) === command);
  return command !== undefined && same.length > 0 ? same.at(-1)![0] : id;
}

function takeAnswer(state: Translation, { ask, how }: Extract<AcpHeard, { kind: "answered" }>): Translated {
  if (!state.asks.has(ask)) return { state, events: [] };
  const asks = new Map(state.asks);
  asks.delete(ask);
  return { state: { ...state, asks, isDenied: how === "deny" }, events: [{ type: "answered", ask, how }] };
}

const OUTCOMES: Readonly<Record<string, RunOutcome>> = {
  end_turn: "finished",
  max_tokens: "out-of-room",
  max_turn_requests: "out-of-room",
  refusal: "refused",
  cancelled: "stopped",
};

function takeEnd(profile: AcpProfile, state: Translation, result: AcpFields, isLast: boolean): Translated {
  const counted = readTokens(profile.tokens, state.tokens, result);
  const events = closeAsks(state);
  for (const [call, one] of state.calls) {
    if (one.state === "held") events.push({ type: "tool_call", call, name: one.name, input: one.input });
    if (one.state !== "ended") events.push({ type: "tool_result", call, isError: true, text: NO_RESULT });
  }
  if (counted.added) events.push(usageEvent(counted.added, "guessed"));
  const reason = String(result.stopReason);
  const given = Object.hasOwn(OUTCOMES, reason) ? OUTCOMES[reason]! : "finished";
  const outcome = given === "finished" && state.isDenied ? "rejected" : given;
  const next = { ...state, asks: new Map(), calls: new Map(), isDenied: false, tokens: counted.total };
  if (!isLast) return state.text === "" ? { state: next, events } : nextAnswer({ state: next, events });
  const said = state.text.trimStart();
  const isFailure = outcome === "finished" && !counted.added && profile.failures.some((one) => said.startsWith(one));
  if (isFailure) return takeFailure(next, { kind: "failed", code: 0, message: said }, events);
  return { state: next, events: [...events, { type: "done", outcome, text: state.text }] };
}

/** Two answers of one run aren't one paragraph. */
function nextAnswer({ state, events }: Translated): Translated {
  return add({ state: { ...state, text: `${state.text}${BETWEEN}` }, events }, { type: "text", text: BETWEEN });
}

const BETWEEN = "\n\n";

function takeFailure(
  state: Translation,
  { code, message }: Extract<AcpHeard, { kind: "failed" }>,
  before: readonly RunEventBody[] = [],
): Translated {
  const error = readFailure(code, message);
  const done = { type: "done" as const, outcome: "failed" as const, text: state.text };
  return {
    state: { ...state, asks: new Map() },
    events: [...before, ...closeAsks(state), { type: "error", ...error }, done],
  };
}

function closeAsks({ asks }: Translation): RunEventBody[] {
  return [...asks.keys()].map((ask) => ({ type: "answered", ask, how: "withdrawn" }));
}

const NO_RESULT = "The agent reported no result.";

/** One agent counts on the chunks of its answer. */
function readChunkTokens(profile: AcpProfile, state: Translation, update: AcpFields): Translated {
  if (profile.tokens !== "qwen") return { state, events: [] };
  const { added, total } = readTokens("qwen", state.tokens, update);
  return { state: { ...state, tokens: total }, events: added ? [usageEvent(added, "guessed")] : [] };
}

function usageEvent(usage: Partial<Usage>, basis: "billed" | "guessed"): RunEventBody {
  return { type: "usage", usage: { ...NO_USAGE, cost: null, ...usage }, basis, model: null };
}

function add({ state, events }: Translated, event: RunEventBody): Translated {
  return { state, events: [...events, event] };
}

/** A tool's name, which ACP has no field for in its first version: vendors have several. */
function readName(update: AcpFields): string | undefined {
  const meta = Object.values(asFields(update._meta)).map((one) => asFields(one).toolName);
  const named = [update.name, asFields(update._meta).toolName, ...meta].find(
    (one) => typeof one === "string" && one !== "",
  );
  if (typeof named === "string") return named;
  const { kind, title } = update;
  if (typeof kind === "string" && kind !== "other" && kind !== "") return kind;
  return typeof title === "string" && title !== "" ? title.split(/[\s:(]/)[0] : undefined;
}

function readCommand(input: unknown): string | undefined {
  const { command, cmd } = asFields(input);
  const given = command ?? cmd;
  if (Array.isArray(given)) return given.join(" ");
  return typeof given === "string" ? given : undefined;
}

/** What a tool printed or changed, as text. */
function readOutput({ content, rawOutput }: AcpFields): string {
  const parts = Array.isArray(content) ? content.map(asFields) : [];
  const text = parts
    .map((part) => {
      if (part.type === "diff") return `${String(part.path ?? "")}\n${String(part.newText ?? "")}`;
      return readText(part.content);
    })
    .filter((one) => one !== "")
    .join("\n");
  if (text !== "") return text.slice(0, MOST_TEXT);
  const raw = typeof rawOutput === "string" ? rawOutput : asFields(rawOutput).output;
  return typeof raw === "string" ? raw.slice(0, MOST_TEXT) : "";
}

function readText(content: unknown): string {
  const { type, text, name, uri } = asFields(content);
  if (type === "text") return typeof text === "string" ? text : "";
  return type === "resource_link" ? `[${String(name ?? "")}](${String(uri ?? "")})` : "";
}

/** What is known of a call's input so far. */
function joinInput(before: Json | undefined, now: unknown): Json {
  if (now === undefined || now === null || now === "") return before ?? {};
  const given = now as Json;
  return isObject(given) && isObject(before) ? { ...before, ...given } : given;
}
