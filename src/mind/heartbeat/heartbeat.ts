/**
 * An agent's heartbeat: a regular check of its HEARTBEAT.md. Its slots are an ordinary job's; this room decides whether a slot is
 * worth a model call, what the model sees, and what its answer means.
 *
 * HEARTBEAT-1: no model is called unless something is new: the checklist changed, an item is due, a watched file changed,
 * something happened. Whatever exists at the first check is known, not new.
 * HEARTBEAT-2: "nothing to say" is a tool call, never a magic word in the text.
 * HEARTBEAT-3: the same message is not sent twice in a day.
 * HEARTBEAT-4: it writes only to the chat in the settings (I7); a change counts as seen only once its beat has ended well.
 * HEARTBEAT-5: after several beats in a row that cost something and said nothing, it pauses itself; a changed checklist wakes it.
 */
import { createHash } from "node:crypto";
import type { Records, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  answerIds,
  fromJson,
  type Given,
  type Json,
  type ReplyRoute,
  type SessionKey,
  type TurnId,
  type TurnResult,
  toJson,
} from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import { type ChecklistItem, readChecklist } from "./checklist.ts";
import type { HeartbeatConfig } from "./config.ts";
import { isActive } from "./hours.ts";
import { type BeatRow, beginBeat, noteSaid, readBeat, type SeenBefore, saidAt, saveBeat } from "./store.ts";
import {
  BEAT_OFF,
  badLine,
  beatText,
  FIRST_CHECK,
  fileChanged,
  hintTwice,
  itemDue,
  LIST_CHANGED,
  NOTHING_LISTED,
  NOTHING_NEW,
  NOTHING_TO_SAY,
  outsideHours,
  pausedBecause,
  SAID_BEFORE,
  SWITCHED_OFF,
  silentChecks,
  WATCHING,
} from "./words.ts";

export interface HeartbeatParts {
  records: Records;
  clock: Clock;
  config: (agent: AgentId) => HeartbeatConfig | undefined;
  /** The text of HEARTBEAT.md. */
  checklist: (agent: AgentId) => Promise<string>;
  /** Changes when the file does; null when there is none. */
  mark: (agent: AgentId, path: string) => Promise<string | null>;
  /** What happened to this agent after `since`, in short sentences. Cheap. */
  listRecent: (agent: AgentId, since: number) => Promise<string[]>;
  time: {
    zone(): string;
    /** Minutes since midnight on the wall there. */
    minutes(at: number, zone: string): number;
    /** Both throw if the text isn't a time. */
    moment(text: string, now: number, zone: string): number;
    /** When "2 hours", "day" or "monday 9am" comes next after `from`. */
    again(every: string, from: number, zone: string): number;
  };
  send: (tx: Tx, word: { answer: string; turn: TurnId; session: SessionKey; route: ReplyRoute; text: string }) => void;
}

export interface BeatState {
  state: "off" | "nothing-to-watch" | "watching" | "asleep" | "paused";
  because: string;
  items: number;
  useless: number;
  lastAt: number | null;
  lastSaid: string | null;
  /** Hints in HEARTBEAT.md that aren't understood, in sentences. */
  problems: string[];
}

const DAY_MS = 86_400_000;
/** How much of its last message people are shown. */
const SHOWN_SAID = 300;

const FINISH: NonNullable<Given["finish"]> = [
  {
    name: "heartbeat_tell",
    description: "Send the owner a short message about what needs them now, and end this check.",
    input: {
      type: "object",
      properties: { text: { type: "string", description: "the message, as the owner will read it" } },
      required: ["text"],
    },
  },
  {
    name: "heartbeat_quiet",
    description: "End this check without sending anything.",
    input: { type: "object", properties: {} },
  },
];

export class Heartbeat {
  private readonly parts: HeartbeatParts;

  constructor(parts: HeartbeatParts) {
    this.parts = parts;
  }

  /** Decides whether to call a model. Cheap, and calls none itself. `force`: somebody asked for a beat now. */
  async check(
    agent: AgentId,
    now: number,
    force = false,
  ): Promise<{ quiet: string } | { text: string; given: Given; note: Json }> {
    const config = this.parts.config(agent);
    if (!config) return { quiet: BEAT_OFF };
    const text = await this.parts.checklist(agent);
    const items = readChecklist(text);
    const list = hash(text);
    const row = await this.awake(agent, list);
    if (row.paused && !force) return { quiet: pausedBecause(row.paused) };
    if (!items.length) return { quiet: NOTHING_LISTED };
    if (!force && !this.isAwake(config, now)) return { quiet: outsideHours(config.activeHours) };
    const { recent, seen } = await this.look({ agent, config, items, list, row, now });
    if (!row.seen && !force) {
      await this.parts.records.write((tx) => saveBeat(tx, { ...row, seen }));
      return { quiet: FIRST_CHECK };
    }
    if (!recent.length && !force) return { quiet: NOTHING_NEW };
    return {
      text: beatText({
        items: items.map((item) => item.text),
        recent,
        problems: this.problems(items, config),
        lastSaid: row.lastSaid,
      }),
      given: { finish: FINISH },
      note: toJson(seen),
    };
  }

  /** Its turn is admitted: the changes it was given are now pending. */
  began(tx: Tx, agent: AgentId, note: Json, now: number): void {
    beginBeat(tx, agent, fromJson<SeenBefore>(note), now);
  }

  async ended(
    agent: AgentId,
    run: { turn: TurnId; session: SessionKey; route: ReplyRoute | null; result: TurnResult; now: number },
  ): Promise<{ reason: string | null; record: (tx: Tx) => void }> {
    const { records } = this.parts;
    const { result, now, route, turn, session } = run;
    const row = await readBeat(records, agent);
    const text = result.state === "answered" ? result.text.trim() : "";
    const print = hash(text.toLowerCase().replace(/\s+/g, " "));
    const before = text ? await saidAt(records, agent, print) : undefined;
    const isNew = text !== "" && (before === undefined || now - before >= DAY_MS);
    const useless = isNew ? 0 : row.useless + 1;
    const most = this.parts.config(agent)?.pauseAfter ?? Number.POSITIVE_INFINITY;
    const paused = useless >= most ? silentChecks(useless) : row.paused;
    const nothingNew = text ? SAID_BEFORE : NOTHING_TO_SAY;
    const reason = isNew ? null : nothingNew;
    return {
      reason,
      record: (tx) => {
        const lastSaid = isNew ? text.slice(0, SHOWN_SAID) : row.lastSaid;
        saveBeat(tx, { ...row, seen: row.pending ?? row.seen, pending: null, useless, paused, lastSaid });
        if (!isNew) return;
        noteSaid(tx, { agent, hash: print, at: now, forget: now - DAY_MS });
        if (route) this.parts.send(tx, { answer: answerIds.beat(turn), turn, session, route, text });
      },
    };
  }

  async state(agent: AgentId): Promise<BeatState> {
    const config = this.parts.config(agent);
    const text = config ? await this.parts.checklist(agent) : "";
    const items = readChecklist(text);
    const { useless, lastAt, lastSaid, paused } = await this.awake(agent, hash(text), false);
    const problems = config ? this.problems(items, config) : [];
    const facts = { items: items.length, useless, lastAt, lastSaid, problems };
    if (!config) return { ...facts, state: "off", because: SWITCHED_OFF };
    if (!items.length) return { ...facts, state: "nothing-to-watch", because: NOTHING_LISTED };
    if (paused) return { ...facts, state: "paused", because: paused };
    if (!this.isAwake(config, this.parts.clock.now())) {
      return { ...facts, state: "asleep", because: outsideHours(config.activeHours) };
    }
    return { ...facts, state: "watching", because: WATCHING };
  }

  /** A null `why` resumes it. */
  async pause(agent: AgentId, why: string | null): Promise<void> {
    const row = await readBeat(this.parts.records, agent);
    await this.parts.records.write((tx) => saveBeat(tx, { ...row, paused: why, useless: 0 }));
  }

  /** Reads the row, and wakes a heartbeat whose checklist has changed since it paused itself (HEARTBEAT-5). */
  private async awake(agent: AgentId, list: string, keeps = true): Promise<BeatRow> {
    const row = await readBeat(this.parts.records, agent);
    const pausedItself = row.paused !== null && row.useless > 0;
    if (!pausedItself || !row.seen || row.seen.list === list) return row;
    const woken = { ...row, paused: null, useless: 0 };
    if (keeps) await this.parts.records.write((tx) => saveBeat(tx, woken));
    return woken;
  }

  private isAwake(config: HeartbeatConfig, now: number): boolean {
    const { time } = this.parts;
    return isActive(config.activeHours, time.minutes(now, config.zone ?? time.zone()));
  }

  /** Finds what is new, and what will count as seen. */
  private async look(at: {
    agent: AgentId;
    config: HeartbeatConfig;
    items: ChecklistItem[];
    list: string;
    row: BeatRow;
    now: number;
  }): Promise<{ recent: string[]; seen: SeenBefore }> {
    const { agent, config, items, list, row, now } = at;
    const before = row.seen;
    const recent: string[] = [];
    const seen: SeenBefore = { list, files: {}, looked: {}, until: now };
    if (before && before.list !== list) recent.push(LIST_CHANGED);
    const watched = new Set([...config.watch, ...items.flatMap((item) => item.watch ?? [])]);
    for (const path of watched) {
      seen.files[path] = await this.parts.mark(agent, path).catch(() => null);
      const known = before?.files[path];
      if (before && known !== undefined && known !== seen.files[path]) recent.push(fileChanged(path));
    }
    for (const item of items) {
      const looked = before?.looked[item.key];
      const isDue = this.isDue(item, looked, now, config);
      if (isDue && before) recent.push(itemDue(item.text));
      if (item.due ? looked !== undefined || (isDue && before) : item.every) {
        seen.looked[item.key] = isDue || looked === undefined ? now : looked;
      }
    }
    if (before) recent.push(...(await this.parts.listRecent(agent, before.until)));
    return { recent, seen };
  }

  private isDue(item: ChecklistItem, looked: number | undefined, now: number, config: HeartbeatConfig): boolean {
    const { time } = this.parts;
    const zone = config.zone ?? time.zone();
    try {
      if (item.due && looked === undefined && time.moment(item.due, now, zone) <= now) return true;
      if (item.every) return looked !== undefined && time.again(item.every, looked, zone) <= now;
    } catch {
      // Reported by `problems`.
    }
    return false;
  }

  /** A hint that isn't a valid time would never fire, so it is reported rather than treated as plain text. */
  private problems(items: readonly ChecklistItem[], config: HeartbeatConfig): string[] {
    const { time, clock } = this.parts;
    const zone = config.zone ?? time.zone();
    const now = clock.now();
    return items.flatMap((item) => {
      try {
        if (item.due) time.moment(item.due, now, zone);
        if (item.every) time.again(item.every, now, zone);
        return item.twice ? [badLine(item.text, { message: hintTwice(item.twice) })] : [];
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return [badLine(item.text, error)];
      }
    });
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
