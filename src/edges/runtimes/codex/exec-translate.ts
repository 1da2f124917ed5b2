/** From what `codex exec --json` prints to a run's events. Pure. Its answer comes in blocks, and it asks nothing. */
import type { RunEventBody } from "../../../core/contracts/index.ts";
import { asObject } from "../../../core/domain/index.ts";
import { readCodexFailure, readTry } from "./failure.ts";
import { asText, type CodexItem, readCall } from "./items.ts";
import { type CodexTotal, readTotal, usedSince } from "./tokens.ts";
import { codexWords as words } from "./words.ts";

export interface ExecState {
  /** "" before it said. */
  thread: string;
  /** Calls without a result. */
  open: ReadonlySet<string>;
  total: CodexTotal;
  text: string;
  /** A failure that may have been the last one. */
  failure: ReturnType<typeof readCodexFailure> | undefined;
  isDone: boolean;
}

export interface ExecTranslated {
  state: ExecState;
  events: RunEventBody[];
}

export function startExec(total: CodexTotal): ExecState {
  return { thread: "", open: new Set(), total, text: "", failure: undefined, isDone: false };
}

const BETWEEN = "\n\n";
const RETRY = /^Reconnecting/;

type ExecLineReader = (state: ExecState, line: CodexItem) => ExecTranslated;

const LINES: Readonly<Record<string, ExecLineReader>> = {
  "thread.started": (state, { thread_id }) => ({ state: { ...state, thread: asText(thread_id) }, events: [] }),
  "item.started": (state, { item }) => announce(state, asObject(item)),
  "item.completed": (state, { item }) => complete(state, asObject(item)),
  "turn.completed"(state, { usage }) {
    // Counted over the thread, also in other processes (CODEX-5).
    const total = readTotal(usage);
    const used = usedSince(state.total, total);
    const events: RunEventBody[] = used ? [{ type: "usage", usage: used, basis: "guessed", model: null }] : [];
    return end({ ...state, total }, "finished", events);
  },
  "turn.failed"(state, { error }) {
    const { isFinal: _, ...failure } = state.failure ?? readCodexFailure(error);
    return end(state, "failed", [{ type: "error", ...failure }]);
  },
  error(state, { message }) {
    const failure = readCodexFailure({ message });
    if (!RETRY.test(asText(message))) return { state: { ...state, failure }, events: [] };
    if (failure.isFinal) {
      const { isFinal: _, ...said } = failure;
      return end(state, "failed", [{ type: "error", ...said }]);
    }
    const attempt = readTry(message);
    return { state, events: [{ type: "rate_limit", failure: failure.failure, attempt, retryAt: null }] };
  },
};

export function translateExec(state: ExecState, line: CodexItem): ExecTranslated {
  const type = String(line.type);
  if (state.isDone || !Object.hasOwn(LINES, type)) return { state, events: [] };
  return LINES[type]!(state, line);
}

function announce(state: ExecState, item: CodexItem): ExecTranslated {
  const read = readCall(item);
  const call = asText(item.id);
  if (!read || state.open.has(call)) return { state, events: [] };
  const event: RunEventBody = { type: "tool_call", call, name: read.name, input: read.input };
  return { state: { ...state, open: new Set(state.open).add(call) }, events: [event] };
}

function complete(state: ExecState, item: CodexItem): ExecTranslated {
  const text = asText(item.text);
  if (item.type === "agent_message") {
    const between: RunEventBody[] = state.text === "" ? [] : [{ type: "text", text: BETWEEN }];
    const whole = state.text === "" ? text : `${state.text}${BETWEEN}${text}`;
    return { state: { ...state, text: whole }, events: [...between, { type: "text", text }] };
  }
  if (item.type === "reasoning") return { state, events: [{ type: "thinking", text }] };
  // Not fatal: that is how it prints a warning (CODEX-6).
  if (item.type === "error") return { state, events: [{ type: "notice", text: asText(item.message) }] };
  const before = announce(state, item);
  const read = readCall(item);
  if (!read) return before;
  const open = new Set(before.state.open);
  open.delete(asText(item.id));
  const result: RunEventBody = {
    type: "tool_result",
    call: asText(item.id),
    isError: read.isError,
    text: read.text,
  };
  return { state: { ...before.state, open }, events: [...before.events, result] };
}

function end(state: ExecState, outcome: "finished" | "failed", before: RunEventBody[]): ExecTranslated {
  const unfinished = [...state.open].map(
    (call): RunEventBody => ({ type: "tool_result", call, isError: true, text: words.noResult }),
  );
  const done: RunEventBody = { type: "done", outcome, text: state.text };
  return { state: { ...state, open: new Set(), isDone: true }, events: [...unfinished, ...before, done] };
}
