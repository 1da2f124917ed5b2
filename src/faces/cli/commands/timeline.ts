/**
 * A turn as a timeline in text (UI.md §4): a row per step with glyph, name, when it began, bar and duration. Thin line =
 * waited in the queue, solid = worked, hatched = waited for a person. Such waits are compressed, so that work stays readable.
 */
import { assertNever } from "../../../core/domain/index.ts";
import type { TurnDetail } from "../../../core/protocol/index.ts";
import { duration, money, shortId, visible } from "../format.ts";
import { answerMark } from "../lines.ts";
import type { Hint, Paint } from "../output.ts";
import { table } from "../output.ts";
import { turnWords as words } from "../words/look.ts";

export interface TimelineLook {
  paint: Paint;
  hint: Hint;
  now: number;
  columns: number;
}

interface Row {
  kind: "queued" | "worked" | "parked" | "restart";
  glyph: string;
  name: string;
  at: number;
  /** undefined: not ended. */
  endedAt: number | undefined;
  more: string;
}

const SIGNS = { queued: "─", worked: "█", parked: "░", restart: "┆" } as const;
/** A wait for a person takes this much of the bar at most, however long it was. */
const PARKED_SHARE = 0.15;
/** Shorter, and nobody waited. */
const QUEUED_MS = 50;
/** What the other columns need. */
const BESIDE = 56;

export function timeline(t: TurnDetail, look: TimelineLook): string[] {
  const rows = listRows(t, look);
  if (!rows.length) return [];
  const { now } = look;
  const end = Math.max(t.endedAt ?? now, ...rows.map((row) => row.endedAt ?? row.at));
  const width = Math.min(Math.max(look.columns - BESIDE, 12), 40);
  const place = scale(rows, t.acceptedAt, end, width);
  const cells = rows.map((row) => {
    const offset = row.at - t.acceptedAt;
    const from = Math.min(place(row.at), width - 1);
    const to = Math.max(place(row.endedAt ?? end), from + 1);
    const bar = (" ".repeat(from) + SIGNS[row.kind].repeat(to - from)).padEnd(width);
    const took = row.endedAt === undefined ? "" : duration(row.endedAt - row.at);
    return [row.glyph, row.name, `+${offset < 5 ? "0 s" : duration(offset)}`, bar, took, row.more];
  });
  return ["", ...table(cells, "  ")];
}

function listRows(t: TurnDetail, { paint, hint, now }: TimelineLook): Row[] {
  const queued = (t.startedAt ?? t.endedAt ?? now) - t.acceptedAt;
  const rows: Row[] = [
    ...t.steps.filter(isShown).map((s): Row => {
      const [glyph, why] = stepMark(s, t.endedAt !== undefined, paint);
      const more = [callMore(s), s.said && visible(s.said), why].filter(Boolean).join("  ");
      return { kind: "worked", glyph, name: stepName(s), at: s.at, endedAt: s.endedAt, more };
    }),
    ...t.restarts.map(
      (r): Row => ({
        kind: "restart",
        glyph: paint("┆", "wait"),
        name: "restarted",
        at: r.at,
        endedAt: r.resumedAt,
        more: words.nothingRepeated,
      }),
    ),
    ...t.approvals.map((a): Row => {
      const waits = a.state === "pending";
      const more = waits ? words.approve(hint, shortId(a.id)) : words.answered(a.state, a.answeredBy);
      const glyph = answerMark(a, paint);
      return { kind: "parked", glyph, name: words.asked(a.tool), at: a.askedAt, endedAt: a.answeredAt ?? now, more };
    }),
    ...(queued >= QUEUED_MS
      ? [
          {
            kind: "queued",
            glyph: paint("○", "dim"),
            name: "queued",
            at: t.acceptedAt,
            endedAt: t.acceptedAt + queued,
            more: "",
          } as Row,
        ]
      : []),
  ];
  return rows.sort((a, b) => a.at - b.at);
}

/** A stretch of another runtime's run holds what that did, which has rows by itself. */
function isShown({ does }: TurnDetail["steps"][number]): boolean {
  return does.kind !== "run";
}

/** Time to column. Waits for a person count for little. */
function scale(rows: readonly Row[], begin: number, end: number, width: number): (at: number) => number {
  const waits = merged(rows.filter((row) => row.kind === "parked").map((row) => [row.at, row.endedAt ?? end]));
  const waited = waits.reduce((sum, [from, to]) => sum + to - from, 0);
  const worked = Math.max(end - begin - waited, 1);
  // As if each wait had taken so long that together they have their share.
  const most = (worked * PARKED_SHARE) / (1 - PARKED_SHARE);
  const rate = waited > most ? most / waited : 1;
  const squeezed = (at: number) => {
    const passed = waits.reduce((sum, [from, to]) => sum + Math.max(Math.min(at, to) - from, 0), 0);
    return at - begin - passed * (1 - rate);
  };
  const whole = Math.max(squeezed(end), 1);
  return (at) => Math.round((Math.max(squeezed(at), 0) / whole) * width);
}

/** Waits that overlap count once. */
function merged(spans: [number, number][]): [number, number][] {
  const out: [number, number][] = [];
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else out.push([from, to]);
  }
  return out;
}

function stepMark(step: TurnDetail["steps"][number], ended: boolean, paint: Paint): [string, string] {
  const { outcome, failure, exit, reason } = step;
  const why = [failure, exit === undefined ? "" : words.exit(exit), reason && visible(reason)]
    .filter(Boolean)
    .join(": ");
  switch (outcome) {
    case "ok":
      return [paint("✓", "ok"), ""];
    case "failed":
      return [paint("✕", "fail"), why];
    case "denied":
      return [paint("–", "wait"), why || words.notAllowed];
    case "cut":
      return [paint("…", "wait"), why || words.cutShort];
    case "unknown":
      return [paint("?", "wait"), words.unknownOutcome];
    case "open":
      return ended ? [paint("?", "wait"), words.unknownOutcome] : ["●", "running"];
    default:
      return assertNever(outcome);
  }
}

/** What a model call cost, and the tries before it that failed. */
function callMore({ usage, failed }: TurnDetail["steps"][number]): string {
  const cost = usage?.cost ? money(usage.cost) : "";
  const tries = failed?.length
    ? words.failedTries(failed.length, [...new Set(failed.map((f) => f.failure))].join(", "))
    : "";
  return [cost, tries].filter(Boolean).join("  ");
}

/** The names as they were recorded are in --json. */
function stepName({ does, name }: TurnDetail["steps"][number]): string {
  if (does.kind === "model") return words.modelCall(does.call);
  if (does.kind === "tool") return does.tool;
  return (words.steps as Readonly<Record<string, string>>)[does.kind] ?? visible(name);
}
