/** What a runtime did, as steps of a turn: its model calls from the ledger, all else from its recorded events. Pure. */
import type { RunEventBody } from "../../core/contracts/index.ts";
import { messageIds, stepNames, type Usage } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import { RATE_LIMITED } from "./words.ts";

type StepView = Result<"turns.get">["steps"][number];

export interface RecordedEvent {
  seq: number;
  at: number;
  body: RunEventBody;
}

/** A model call as the ledger has it. */
export interface LedgerCall {
  call: number;
  /** Null: none answered. */
  model: string | null;
  usage: Usage;
  ms: number;
  /** When it ended. */
  at: number;
}

/** Of words that a row shows. */
const MOST_SHOWN = 300;

/** `after`: the place of the journal's last step. They are in order of their time. */
export function toSteps(
  events: readonly RecordedEvent[],
  calls: readonly LedgerCall[],
  after: { segment: number; index: number },
): StepView[] {
  const found = [...toModelSteps(events, calls), ...toToolSteps(events), ...toThoughts(events), ...toNotices(events)];
  return found
    .sort((a, b) => a.at - b.at)
    .map((step, i) => ({ segment: after.segment, index: after.index + 1 + i, kind: "step", state: "done", ...step }));
}

type ToldStep = Omit<StepView, "segment" | "index" | "kind" | "state"> & Partial<Pick<StepView, "kind" | "state">>;

function toModelSteps(events: readonly RecordedEvent[], calls: readonly LedgerCall[]): ToldStep[] {
  const known = calls.map(
    ({ call, model, usage, ms, at }): ToldStep => ({
      name: stepNames.model(call),
      does: { kind: "model", call },
      at: ms > 0 ? at - ms : lastBoundary(events, at),
      endedAt: at,
      outcome: model === null ? "failed" : "ok",
      usage,
      ...truthy({ model }),
    }),
  );
  if (known.length > 0) return known;
  // It reports nothing: what it wrote between its deeds was a call each.
  return spans(events, (type) => type === "text" || type === "thinking").map(({ at, endedAt }, call) => ({
    name: stepNames.model(call),
    does: { kind: "model" as const, call },
    at,
    endedAt,
    outcome: "ok" as const,
  }));
}

/** Since when the model was at work: a runtime that counts by itself says only when a call was over. */
function lastBoundary(events: readonly RecordedEvent[], before: number): number {
  const isBoundary = ({ type }: RunEventBody) => type === "run_started" || type === "tool_result" || type === "usage";
  return events.findLast(({ at, body }) => at < before && isBoundary(body))?.at ?? before;
}

/** A call without a result may or may not have happened; while the run goes on, it is under way. */
function toToolSteps(events: readonly RecordedEvent[]): ToldStep[] {
  const isOver = events.some(({ body }) => body.type === "done");
  const calls = events.flatMap(({ at, body }) => (body.type === "tool_call" ? [{ at, ...body }] : []));
  return calls.map(({ at, call, name }, i): ToldStep => {
    const id = messageIds.runCall(i + 1);
    const about = {
      name: stepNames.tool(name, id),
      does: { kind: "tool" as const, tool: name, call: id },
      kind: "effect" as const,
      at,
    };
    const end = events.find((one) => one.at >= at && one.body.type === "tool_result" && one.body.call === call);
    if (end?.body.type !== "tool_result")
      return { ...about, state: isOver ? "unknown" : "intent", outcome: isOver ? "unknown" : "open" };
    const { isError, text } = end.body;
    const reason = isError ? shorten(text.trim().split("\n").at(-1) ?? "") : "";
    return { ...about, endedAt: end.at, outcome: isError ? "failed" : "ok", ...truthy({ reason }) };
  });
}

function toThoughts(events: readonly RecordedEvent[]): ToldStep[] {
  return spans(events, (type) => type === "thinking").map(({ at, endedAt, text }) => ({
    name: "thinking",
    does: { kind: "thinking" as const },
    outcome: "ok" as const,
    at,
    endedAt,
    said: shorten(text),
  }));
}

/** What the runtime said beside its answer: notices, errors, that it waits because of a limit. */
function toNotices(events: readonly RecordedEvent[]): ToldStep[] {
  return events.flatMap(({ at, body }): ToldStep[] => {
    const about = { name: "notice", does: { kind: "notice" as const }, at, endedAt: at };
    if (body.type === "notice") return [{ ...about, outcome: "ok", said: shorten(body.text) }];
    if (body.type === "error")
      return [{ ...about, outcome: "failed", failure: body.failure, reason: shorten(body.text) }];
    if (body.type !== "rate_limit") return [];
    const endedAt = body.retryAt ?? undefined;
    return [{ ...about, outcome: "ok", failure: body.failure, said: RATE_LIMITED, ...defined({ endedAt }) }];
  });
}

/** Neighbouring events of a kind as one. */
function spans(
  events: readonly RecordedEvent[],
  isOne: (type: RunEventBody["type"]) => boolean,
): { at: number; endedAt: number; text: string }[] {
  const found: { at: number; endedAt: number; text: string }[] = [];
  let last = -1;
  for (const [i, { at, body }] of events.entries()) {
    if (!isOne(body.type)) continue;
    const text = "text" in body ? body.text : "";
    const before = found.at(-1);
    if (before && last === i - 1) Object.assign(before, { endedAt: at, text: before.text + text });
    else found.push({ at, endedAt: at, text });
    last = i;
  }
  return found;
}

function shorten(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(0, MOST_SHOWN);
}
