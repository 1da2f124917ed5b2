/** A session's records as what a reader sees: messages, answers, tool rows, cards, end lines. Pure. */
import type { Approval, HistoryMessage } from "../../../src/core/protocol/index.ts";
import { readPerson, readReplyId } from "../../../src/core/protocol/keys.ts";
import type { Attached } from "./attached.ts";
import { w } from "./words.ts";

export interface ToolUse {
  key: string;
  turn: string;
  id: string;
  name: string;
  input: unknown;
  /** What it gave back; nothing while it runs or waits. */
  result?: string;
  isError?: boolean;
  /** Why nothing ran. */
  notRun?: NotRun;
  /** What the command exited with. */
  exit?: number;
  /** The last characters of the approval it waits or waited for. */
  code?: string;
  /** Its outcome, when it came after an approval. */
  outcome?: string;
  /** When it began and ended, if this page saw it. */
  began?: number;
  ended?: number;
}

export type NotRun = NonNullable<Extract<HistoryMessage["content"][number], { type: "tool-result" }>["notRun"]>;
export type EventLabel = NonNullable<HistoryMessage["label"]>;

export type Entry =
  | {
      kind: "mine";
      key: string;
      turn: string;
      text: string;
      at: number;
      /** Who wrote it: nobody known for what was imported. */
      from?: From;
      sending?: Own;
      files?: readonly Attached[];
      /** Models no longer see it. */
      forgotten?: true;
    }
  | { kind: "event"; key: string; turn: string; label?: EventLabel; text: string; at: number }
  | {
      kind: "text";
      key: string;
      turn: string;
      text: string;
      at: number;
      live: boolean;
      /** It was stopped here. */
      stopped?: true;
      forgotten?: true;
    }
  | { kind: "thinking"; key: string; turn: string; text: string; live: boolean }
  | { kind: "tool"; key: string; turn: string; use: ToolUse }
  | { kind: "fold"; key: string; turn: string; uses: ToolUse[] }
  | { kind: "note"; key: string; turn: string; text: string; failed: boolean }
  /** An edited message took the place of these: folded, and no longer seen by models. */
  | { kind: "replaced"; key: string; turn: string; said: { mine: boolean; text: string }[] }
  /** So many messages above it were forgotten on request, all of one turn. `isMine`: it is the person's own alone. */
  | { kind: "forgotten"; key: string; turn: string; count: number; isMine: boolean; at: number }
  /** Lares was started again in the middle of this turn. */
  | { kind: "restart"; key: string; turn: string; at: number }
  | { kind: "end"; key: string; turn: string; at: number };

/** Who wrote a message, for its reader. */
export interface From {
  /** This page's reader. */
  own: boolean;
  name: string;
  channel: string;
}
export interface Restart {
  turn: string;
  at: number;
}

/** A message this page sent. */
export interface Own {
  key: string;
  text: string;
  mode: "steer" | "followup";
  at: number;
  state: "sending" | "accepted" | "refused";
  turn?: string;
  error?: { message: string; hint?: string; code: string };
  files?: Attached[];
  /** The turn whose message it takes the place of. */
  replaces?: string;
  /** Somebody else wrote it, or nobody did; missing: this page's reader. */
  from?: From;
  label?: EventLabel;
}

/** Of an approval's id, what a person types. */
const CODE_LETTERS = 6;
const READS = new Set(["read", "list", "search"]);

export function toEntries(
  records: readonly HistoryMessage[],
  open: ReadonlySet<string>,
  restarts: readonly Restart[] = [],
): Entry[] {
  const out: Entry[] = [];
  const divide = makeDivider(restarts, out);
  const uses = new Map<string, ToolUse>();
  const byCode = new Map<string, ToolUse>();
  for (const record of records) {
    const at = Date.parse(record.timestamp);
    const { turn } = record;
    const before = out.length;
    if (record.replacedBy) {
      readReplaced(record, record.replacedBy, out);
      continue;
    }
    divide(turn, at);
    if (record.role === "user") readUser(record, at, out, byCode);
    else if (record.role === "tool") {
      for (const part of record.content) if (part.type === "tool-result") settle(uses, byCode, record, part);
    } else readAssistant(record, at, out, uses);
    if (record.forgotten && out.length > before) markForgotten(record, at, out, before);
  }
  // Turns that went on and have said nothing since.
  for (const { turn } of restarts) if (open.has(turn)) divide(turn, Number.POSITIVE_INFINITY);
  return withEnds(fold(out), open);
}

/** One line where Lares was started again, before the first thing it said afterwards; one for all turns of that moment. */
function makeDivider(restarts: readonly Restart[], out: Entry[]): (turn: string, at: number) => void {
  const shown = new Set<number>();
  const left = new Map<string, number[]>();
  for (const { turn, at } of restarts)
    left.set(
      turn,
      [...(left.get(turn) ?? []), at].sort((a, b) => a - b),
    );
  return (turn, at) => {
    const due = left.get(turn);
    while (due?.length && due[0]! < at) {
      const restart = due.shift()!;
      if (shown.has(restart)) continue;
      shown.add(restart);
      out.push({ kind: "restart", key: `restart:${restart}`, turn, at: restart });
    }
  };
}

/** Shown dimmed, with one line below for all that follow each other. `from`: where the message's own entries begin. */
function markForgotten({ id, turn, role }: HistoryMessage, at: number, out: Entry[], from: number): void {
  for (const entry of out.slice(from)) if (entry.kind === "mine" || entry.kind === "text") entry.forgotten = true;
  const last = out[from - 1];
  const goesOn = last?.kind === "forgotten" && last.turn === turn ? last : undefined;
  if (goesOn) out.splice(from - 1, 1);
  const count = 1 + (goesOn?.count ?? 0);
  out.push({ kind: "forgotten", key: `${id}:forgotten`, turn, count, isMine: role === "user" && !goesOn, at });
}

function readUser(record: HistoryMessage, at: number, out: Entry[], byCode: Map<string, ToolUse>): void {
  const text = record.content
    .map((part) => (part.type === "text" && !part.file && !part.ours ? part.text : ""))
    .join("");
  const files = record.content.flatMap(listAttached);
  const { turn, id } = record;
  if (record.meta?.kind === "outcome") {
    const approval = String(record.meta.approval ?? "");
    const use = byCode.get(approval.slice(-CODE_LETTERS));
    if (use) settleLater(use, text, record.meta);
    return;
  }
  const { label } = record;
  if (label) out.push({ kind: "event", key: id, turn, label, text: eventText(record, label), at });
  else if (record.meta?.kind || !record.person) out.push({ kind: "event", key: id, turn, text, at });
  else {
    const from = readFrom(record);
    out.push({ kind: "mine", key: id, turn, text, at, ...(from ? { from } : {}), ...(files.length ? { files } : {}) });
  }
}

function readFrom({ person, speaker }: HistoryMessage): From | undefined {
  const { id = "", channel = "" } = person ? readPerson(person) : {};
  if (speaker) return { own: speaker.own, name: speaker.name ?? id, channel: speaker.channel };
  return person ? { own: false, name: id, channel } : undefined;
}

/** Who allowed it is shown beside the row, so the words of Lares before the tool's are left out. */
function settleLater(use: ToolUse, text: string, meta: Record<string, unknown>): void {
  use.outcome = text.slice(typeof meta.own === "number" ? meta.own : 0);
  use.isError = meta.isError === true;
  if (meta.notRun === "denied") use.notRun = meta.notRun;
  else delete use.notRun;
  if (typeof meta.exit === "number") use.exit = meta.exit;
}

/** What an event brought. Where several things came in one message, each is headed by what it was. */
function eventText(record: HistoryMessage, first: EventLabel): string {
  return record.content
    .flatMap((part) => {
      if (part.type !== "text" || part.file) return [];
      if (!part.ours) return [part.text];
      return part.label && part.label.text !== first.text ? [part.label.text] : [];
    })
    .filter(Boolean)
    .join("\n");
}

function readReplaced(record: HistoryMessage, by: string, out: Entry[]): void {
  const last = out.at(-1);
  const entry: Extract<Entry, { kind: "replaced" }> =
    last?.kind === "replaced" && last.turn === by
      ? last
      : { kind: "replaced", key: `replaced ${by}`, turn: by, said: [] };
  if (entry !== last) out.push(entry);
  const text = record.content
    .map((part) => (part.type === "text" && !part.file && !part.ours ? part.text : ""))
    .join("");
  if (text.trim() && record.role !== "tool") entry.said.push({ mine: record.person !== undefined, text });
}

function listAttached(part: HistoryMessage["content"][number]): Attached[] {
  if (part.type === "image") return [toAttached(part)];
  return part.type === "text" && part.file ? [toAttached(part.file)] : [];
}

export function toAttached(f: {
  attachment: string;
  mediaType: string;
  name: string;
  bytes?: number | undefined;
}): Attached {
  const { attachment: id, name, mediaType, bytes = 0 } = f;
  return { id, name, mediaType, bytes, kind: mediaType.startsWith("image/") ? "image" : "file" };
}

function readAssistant(record: HistoryMessage, at: number, out: Entry[], uses: Map<string, ToolUse>): void {
  const { turn } = record;
  const base = replyKey(record.id, turn);
  let texts = 0;
  for (const part of record.content) {
    if (part.type === "text" && part.text.trim()) {
      const key = `${base}:text${texts++ || ""}`;
      const stopped = record.meta?.stopped === true ? { stopped: true as const } : {};
      out.push({ kind: "text", key, turn, text: part.text, at, live: false, ...stopped });
    } else if (part.type === "thinking" && part.text.trim()) {
      out.push({ kind: "thinking", key: `${base}:thinking`, turn, text: part.text, live: false });
    } else if (part.type === "tool-call") {
      const use: ToolUse = { key: `${turn}:${part.id}:${base}`, turn, id: part.id, name: part.name, input: part.input };
      uses.set(`${turn} ${part.id}`, use);
      out.push({ kind: "tool", key: use.key, turn, use });
    }
  }
}

/** The same key for a reply while it streams and when it is recorded, so that nothing is drawn again. */
export function replyKey(id: string, turn: string): string {
  const call = readReplyId(id)?.call;
  return call === undefined ? id : liveKey(turn, call);
}
export const liveKey = (turn: string, call: number): string => `${turn}/${call}`;

function settle(
  uses: Map<string, ToolUse>,
  byCode: Map<string, ToolUse>,
  record: HistoryMessage,
  part: Extract<HistoryMessage["content"][number], { type: "tool-result" }>,
): void {
  const use = uses.get(`${record.turn} ${part.id}`);
  if (!use) return;
  const code = (record.meta?.approvals as Record<string, string> | undefined)?.[part.id]?.slice(-CODE_LETTERS);
  if (code) {
    use.code = code;
    byCode.set(code, use);
  }
  if (part.notRun) use.notRun = part.notRun;
  if (part.notRun === "waiting") return;
  use.result = part.text;
  use.isError = part.isError === true;
  if (part.exit !== undefined) use.exit = part.exit;
}

/** Consecutive reads that went well become one row. */
function fold(entries: Entry[]): Entry[] {
  const out: Entry[] = [];
  for (const entry of entries) {
    if (entry.kind !== "tool" || !isQuietRead(entry.use)) {
      out.push(entry);
      continue;
    }
    const last = out.at(-1);
    if (last?.kind === "fold" && last.turn === entry.turn) last.uses.push(entry.use);
    else if (last?.kind === "tool" && last.turn === entry.turn && isQuietRead(last.use)) {
      out[out.length - 1] = { kind: "fold", key: `fold ${last.key}`, turn: entry.turn, uses: [last.use, entry.use] };
    } else out.push(entry);
  }
  return out;
}

const isQuietRead = (use: ToolUse): boolean => READS.has(use.name) && !use.isError && use.code === undefined;

/** An end line after the last entry of every turn that is over. */
function withEnds(entries: Entry[], open: ReadonlySet<string>): Entry[] {
  const last = new Map<string, number>();
  for (const [i, entry] of entries.entries()) last.set(entry.turn, i);
  const out: Entry[] = [];
  entries.forEach((entry, i) => {
    out.push(entry);
    if (last.get(entry.turn) === i && !open.has(entry.turn) && entry.kind !== "replaced") {
      const at = "at" in entry ? entry.at : 0;
      out.push({ kind: "end", key: `end ${entry.turn}`, turn: entry.turn, at });
    }
  });
  return out;
}

/** The argument that tells most, for the one line of a tool row. */
export function telling(input: unknown): string {
  if (typeof input !== "object" || input === null) return input === undefined ? "" : String(input);
  const fields = input as Record<string, unknown>;
  for (const field of ["command", "pattern", "path", "url", "query", "text", "name", "id"]) {
    const value = fields[field];
    if (typeof value !== "string" || !value) continue;
    if (field === "pattern" && typeof fields.path === "string") return w.tool.searched(value, fields.path);
    return value;
  }
  const first = Object.values(fields).find((value) => typeof value === "string" || typeof value === "number");
  return first === undefined ? "" : String(first);
}

export function wentWrong(use: ToolUse): boolean {
  return use.isError === true || (use.exit ?? 0) !== 0;
}

/** The pending or answered approval of a tool row. */
export function readApproval(use: ToolUse, approvals: readonly Approval[]): Approval | undefined {
  return use.code === undefined ? undefined : approvals.find((a) => a.turn === use.turn && a.id.endsWith(use.code!));
}
