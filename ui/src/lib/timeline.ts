/**
 * A turn's steps as rows of a timeline. Stretches in which it waited for a person are shortened, so that the work stays
 * readable: a night of waiting takes as much room as a moment.
 */
import type { Result } from "../../../src/core/protocol/index.ts";
import { w } from "./words.ts";

export type TurnFacts = Result<"turns.get">;
export interface Row {
  key: string;
  kind: "model" | "tool" | "gate" | "note" | "approval" | "delivery";
  state: string;
  /** Why it failed or was not allowed. */
  reason?: string;
  name: string;
  /** The id of the tool call, where it is one. */
  call?: string;
  /** Number of the model call. */
  n?: number;
  approval?: string;
  model?: string;
  usage?: TurnFacts["steps"][number]["usage"];
  /** Attempts that failed before it ended: ticks on the same row. */
  failed: { at: number; model: string; failure: string }[];
  at: number;
  end: number;
  open: boolean;
}

type Step = TurnFacts["steps"][number];

/** What the engine records for itself tells a reader nothing; a judgement only where it said no, because nothing ran then. */
const isShown = ({ does, outcome }: Step) =>
  does.kind === "model" || does.kind === "tool" || isNote(does) || (does.kind === "judge" && outcome === "denied");
/** What another runtime thought or reported on the way. */
const isNote = ({ kind }: Step["does"]) => kind === "thinking" || kind === "notice";
/** Share of the width one wait gets. */
const PARK_SHARE = 0.16;

export function toRows(facts: TurnFacts, now: number): Row[] {
  const rows: Row[] = [];
  for (const step of facts.steps) {
    if (!isShown(step)) continue;
    const running = step.outcome === "open" && facts.endedAt === undefined;
    rows.push({
      key: `${step.segment}.${step.index}`,
      ...shownWork(step.does),
      state: running ? "running" : stepState(step),
      ...(step.reason || step.said ? { reason: step.reason ?? step.said } : {}),
      ...(step.model ? { model: step.model } : {}),
      ...(step.usage ? { usage: step.usage } : {}),
      failed: step.failed ?? [],
      at: step.at,
      end: step.endedAt ?? (running ? now : step.at),
      open: running,
    });
  }
  for (const a of facts.approvals) {
    rows.push({
      key: a.id,
      kind: "approval",
      state: a.state,
      name: w.turn.approval,
      approval: a.id,
      failed: [],
      at: a.askedAt,
      end: a.answeredAt ?? (a.state === "pending" ? now : a.askedAt),
      open: a.state === "pending",
    });
  }
  return rows.sort((x, y) => x.at - y.at || (x.kind === "approval" ? 1 : -1));
}

function shownWork(does: Step["does"]): Pick<Row, "kind" | "name" | "n" | "call"> {
  if (does.kind === "model") return { kind: "model", name: w.turn.model, n: does.call };
  if (does.kind === "tool") return { kind: "tool", name: does.tool, call: does.call };
  if (does.kind === "thinking") return { kind: "note", name: w.turn.thinking };
  if (does.kind === "notice") return { kind: "note", name: w.turn.notice };
  return { kind: "gate", name: w.turn.refused };
}

/** How a step of a turn that is over ended. Done is not the same as well done. */
export function stepState({ outcome }: Pick<Step, "outcome">): string {
  if (outcome === "ok") return "done";
  return outcome === "open" ? "unknown" : outcome;
}

/** What counts as work, for "3 steps". */
export const isWork = (row: Row): boolean => row.kind === "model" || row.kind === "tool";

export interface Scale {
  /** From a time to 0…1. */
  at(time: number): number;
  workMs: number;
  parkedMs: number;
  queueMs: number;
  /** Stretches from the last recorded result before a restart until the turn went on. */
  lost: [number, number][];
  lostMs: number;
}

export function toScale(facts: TurnFacts, rows: readonly Row[], now: number): Scale {
  const start = facts.acceptedAt;
  const first = rows[0]?.at ?? facts.startedAt ?? start;
  const end = Math.max(facts.endedAt ?? now, ...rows.map((r) => r.end), start + 1);
  const parks = waits(rows);
  const parkedMs = parks.reduce((sum, [from, to]) => sum + to - from, 0);
  const lost = lostStretches(facts, rows, parks);
  const lostMs = lost.reduce((sum, [from, to]) => sum + to - from, 0);
  // Before its first step it waited for others, unless it was a restart that kept it.
  const queueMs = lost.some(([from]) => from < first) ? 0 : Math.max(0, first - start);
  const busyMs = Math.max(1, end - start - parkedMs);
  // A wait shorter than its share keeps its true length.
  const share = Math.min(PARK_SHARE, 0.6 / Math.max(1, parks.length));
  const widths = parks.map(([from, to]) => Math.min(share, (to - from) / (end - start)));
  const left = 1 - widths.reduce((sum, x) => sum + x, 0);
  return {
    parkedMs,
    queueMs,
    lost,
    lostMs,
    workMs: Math.max(0, busyMs - queueMs - lostMs),
    at(time) {
      let x = 0;
      let from = start;
      for (const [i, [a, b]] of parks.entries()) {
        if (time <= a) break;
        x += ((a - from) / busyMs) * left;
        const inside = Math.min(time, b) - a;
        x += (inside / Math.max(1, b - a)) * widths[i]!;
        from = Math.min(time, b);
        if (time <= b) return clamp(x);
        from = b;
      }
      return clamp(x + ((time - from) / busyMs) * left);
    },
  };
}

/** What a restart cost: nothing that was under way then is on record, so it ran again. A turn that waited lost nothing. */
function lostStretches(
  { acceptedAt, restarts }: TurnFacts,
  rows: readonly Row[],
  parks: readonly [number, number][],
): [number, number][] {
  return restarts.flatMap(({ at, resumedAt }): [number, number][] => {
    if (parks.some(([from, to]) => from <= at && at <= to)) return [];
    const before = rows.filter((row) => row.end <= at).map((row) => row.end);
    const from = Math.max(acceptedAt, ...before);
    return resumedAt > from ? [[from, resumedAt]] : [];
  });
}

/** Stretches in which something was asked and nothing worked. */
function waits(rows: readonly Row[]): [number, number][] {
  const work = rows.filter((r) => r.kind !== "approval");
  const out: [number, number][] = [];
  for (const asked of rows.filter((r) => r.kind === "approval" && r.end > r.at)) {
    const last = out.at(-1);
    if (last && asked.at <= last[1]) {
      last[1] = Math.max(last[1], asked.end);
      continue;
    }
    const next = work.filter((r) => r.at >= asked.at && r.at < asked.end).map((r) => r.at);
    out.push([asked.at, next.length ? Math.min(asked.end, ...next) : asked.end]);
  }
  return out;
}

const clamp = (x: number): number => Math.min(1, Math.max(0, x));
