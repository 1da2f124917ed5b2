/**
 * System events: what happened without anybody saying it. A background process ended, a sub-agent finished, a webhook came, a
 * watched thing changed, somebody rang. Each is a row first and then part of a message of its session's inbox; there is no
 * other way for them to start a turn.
 *
 * EVENTS-1: the same key is the same event, for as long as it is kept; a second telling changes nothing.
 * EVENTS-2: an event is durable when `tell` resolves. It is marked as told in the transaction that admits the message carrying it, so
 *     it is delivered once, wherever Lares is killed.
 * EVENTS-3: what happens within `COALESCE_MS`, and whatever happens while the last message still waits, becomes one message.
 * EVENTS-4: a session keeps a bounded number of texts. What comes beyond is counted, and the message says how much and from whom.
 *     Results somebody asked for (`must`) are never reduced to a count.
 * EVENTS-5: an event never poses as a person or as the system: our label is a separate field, and every line it brings is quoted.
 * EVENTS-6: a turn may wait for events by their keys (`claim`). They then come to that turn and not as a message; when it ends without
 *     having taken them they come as a message after all.
 */
import type { Records, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  type Authority,
  type InboundMessage,
  type LaneClass,
  type ReplyRoute,
  resumeIds,
  type SessionKey,
  type TurnId,
} from "../../core/domain/index.ts";
import type { Clock, Crash, Log } from "../../core/kit/index.ts";
import { truthy } from "../../core/kit/index.ts";
import { compose, describeEvent } from "./compose.ts";
import {
  addClaim,
  claimedBy,
  countWaiting,
  dropClaim,
  dropClaims,
  dropKept,
  type EventRow,
  findClaim,
  insertEvent,
  isKnown,
  isTold,
  lastTold,
  listClaims,
  listWaits,
  markTold,
  sessionsWaiting,
  waitingIn,
} from "./store.ts";

export interface SystemEvent {
  /** The same key again is the same event. Also what a turn waits for it by. */
  key: string;
  kind: EventRow["kind"];
  /** Who the message is from: `process:p_1`, `hook:ci`. */
  source: string;
  session: SessionKey;
  agent: AgentId;
  route: ReplyRoute;
  /** One line in our own words. */
  label: string;
  /** Its content, from anyone; shown quoted. */
  body: string;
  /** What to do about it, in the owner's words; shown unquoted. */
  note?: string;
  authority: Authority;
  /** It carries text from outside although its sender is known. */
  outside?: boolean;
  lane?: LaneClass;
  /** Somebody asked for it: never reduced to a count. */
  must?: boolean;
  /** How long its key is remembered after delivery; null: forever. Default: a month. */
  keepMs?: number | null;
}

export interface SystemEventParts {
  records: Records;
  clock: Clock;
  crash: Crash;
  log: Log;
  /** The inbox. `record` is written in the transaction that admits it. */
  admit: (message: InboundMessage, record: (tx: Tx, turn: TurnId) => void) => Promise<unknown>;
  /** Whether this turn's message is still in the inbox, in no model's request yet. */
  isWaiting: (turn: TurnId) => Promise<boolean>;
  /** Wakes a turn that waits. */
  resume: (turn: TurnId, event: { id: string; name: string }) => Promise<"taken" | "late" | "unknown">;
  hasEnded: (turn: TurnId) => Promise<boolean>;
}

export interface CollectedEvents {
  text: string;
  outside: boolean;
  /** Keys that have not come. */
  missing: string[];
  /** Belongs into the transaction that keeps the text. */
  record: (tx: Tx) => void;
}

/** Long enough for a burst, too short for a person to notice. */
export const COALESCE_MS = 250;
/** Between two looks whether a session took the last message. */
const PATIENCE_MS = 2000;
/** Texts a session keeps while they wait; what comes beyond is counted. */
export const MOST_WAITING = 50;
const KEPT_MS = 30 * 86_400_000;
/** Of one event's text; a sub-agent's answer fits, a log file does not. */
const MOST_BODY = 16_000;

export class SystemEvents {
  private readonly parts: SystemEventParts;
  private readonly timers = new Map<SessionKey, () => void>();
  private readonly flushing = new Map<SessionKey, Promise<void>>();
  private readonly telling = new Map<string, Promise<unknown>>();
  /** Turns with claims: every end of a turn asks, hardly any waits. */
  private readonly parked = new Set<TurnId>();
  private stopped = false;

  constructor(parts: SystemEventParts) {
    this.parts = parts;
  }

  /** Durable when it resolves. `also` is written with it, duplicate or not. */
  async tell(event: SystemEvent, also?: (tx: Tx) => void): Promise<{ duplicate: boolean }> {
    const [duplicate] = await this.tellAll([event], also);
    return { duplicate: duplicate! };
  }

  /** Several in one transaction. Returns for each whether it was known. */
  async tellAll(events: readonly SystemEvent[], also?: (tx: Tx) => void): Promise<boolean[]> {
    const { records, clock, crash } = this.parts;
    // Two tellings of one key at the same time: the second waits and finds it known.
    for (;;) {
      const busy = events.map(({ key }) => this.telling.get(key)).find((one) => one !== undefined);
      if (!busy) break;
      await busy.catch(() => {});
    }
    const known: boolean[] = [];
    const counts = new Map<string, number>();
    const rows: EventRow[] = [];
    const work = (async () => {
      for (const event of events) {
        const before = (await isKnown(records, event.key)) || rows.some((row) => row.key === event.key);
        known.push(before);
        if (before) continue;
        const waiting = counts.get(event.session) ?? (await countWaiting(records, event.session));
        counts.set(event.session, waiting + 1);
        rows.push(toRow(event, !event.must && waiting >= MOST_WAITING, clock.now()));
      }
      await records.write((tx) => {
        for (const row of rows) insertEvent(tx, row);
        also?.(tx);
      });
    })();
    for (const { key } of events) this.telling.set(key, work);
    try {
      await work;
    } finally {
      for (const { key } of events) if (this.telling.get(key) === work) this.telling.delete(key);
    }
    if (rows.length) crash.at("event.stored");
    for (const row of rows) {
      const claim = await findClaim(records, row.key);
      if (claim) await this.wakeWaiter(claim.turn, claim.wait);
      else this.nudge(row.session);
    }
    return known;
  }

  /**
   * Routes these to this turn under the name `wait` and wakes it when all have arrived. Returns which; none if all were delivered
   * before, or another turn is waiting for them.
   */
  async claim(turn: TurnId, wait: string, keys: readonly string[]): Promise<string[]> {
    const { records } = this.parts;
    this.parked.add(turn);
    await records.write((tx) => {
      for (const key of keys) addClaim(tx, { key, turn, wait });
    });
    const mine: string[] = [];
    for (const key of keys) {
      if ((await findClaim(records, key))?.turn !== turn) continue;
      // Told before we asked: its text is in the history.
      if (await isTold(records, key)) await records.write((tx) => dropClaim(tx, key));
      else mine.push(key);
    }
    if (mine.length) await this.wakeWaiter(turn, wait);
    return mine;
  }

  /** What came for a turn that waited; what did not will come as a message. */
  async collect(turn: TurnId, wait: string): Promise<CollectedEvents> {
    const { records, clock } = this.parts;
    const rows = await claimedBy(records, turn, wait);
    const claims = await listClaims(records, turn, wait);
    const here = new Set(rows.map((row) => row.key));
    return {
      text: rows.map(describeEvent).join("\n\n"),
      outside: rows.some((row) => row.outside === 1),
      missing: claims.map((claim) => claim.key).filter((key) => !here.has(key)),
      record: (tx) => {
        for (const row of rows) markTold(tx, row.key, turn, keepUntil(row, clock.now()));
        dropClaims(tx, turn, wait);
      },
    };
  }

  /** A turn ended: what it waited for and did not take comes as a message. */
  async ended(turn: TurnId, session: SessionKey): Promise<void> {
    const waited = this.parked.delete(turn);
    if (waited) await this.parts.records.write((tx) => dropClaims(tx, turn));
    if (!waited && !this.timers.has(session)) return;
    // It may have been the one that stood in the way.
    this.timers.get(session)?.();
    this.timers.delete(session);
    this.nudge(session);
  }

  /** After a start: delivers what wasn't delivered, and releases the claims of turns that have ended. */
  async settle(): Promise<void> {
    const { records, clock } = this.parts;
    for (const { turn, wait } of await listWaits(records)) {
      if (await this.parts.hasEnded(turn)) await records.write((tx) => dropClaims(tx, turn));
      else {
        this.parked.add(turn);
        await this.wakeWaiter(turn, wait);
      }
    }
    for (const session of await sessionsWaiting(records)) await this.flush(session);
    await records.write((tx) => dropKept(tx, clock.now()));
  }

  /** Forgets the keys whose time is over. */
  async tidy(): Promise<void> {
    await this.parts.records.write((tx) => dropKept(tx, this.parts.clock.now()));
  }

  stop(): void {
    this.stopped = true;
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
  }

  private nudge(session: SessionKey, ms = COALESCE_MS): void {
    if (this.stopped || this.timers.has(session)) return;
    const cancel = this.parts.clock.after(ms, () => {
      this.timers.delete(session);
      void this.flush(session);
    });
    this.timers.set(session, cancel);
  }

  /** One at a time for each session. Never throws: what was not told stays a row. */
  private flush(session: SessionKey): Promise<void> {
    const before = this.flushing.get(session) ?? Promise.resolve();
    const now = before
      .then(() => (this.stopped ? undefined : this.tellSession(session)))
      .catch((error: unknown) => {
        if (this.stopped) return;
        this.parts.log.warn("events couldn't be delivered yet", { session, error: String(error) });
        this.nudge(session, PATIENCE_MS);
      })
      .finally(() => {
        if (this.flushing.get(session) === now) this.flushing.delete(session);
      });
    this.flushing.set(session, now);
    return now;
  }

  private async tellSession(session: SessionKey): Promise<void> {
    const { records, clock } = this.parts;
    const rows = await waitingIn(records, session);
    const [first] = rows;
    if (!first) return;
    const last = await lastTold(records, session);
    if (last && (await this.parts.isWaiting(last))) return this.nudge(session, PATIENCE_MS);
    // What is answered elsewhere or has other rights is a separate message.
    const group = rows.filter((row) => kin(row) === kin(first));
    const { source, label, isMaterial, at, text, more } = compose(group);
    await this.parts.admit(
      {
        route: JSON.parse(first.route) as ReplyRoute,
        sender: { id: source },
        text,
        about: { label, saidAt: at, ...truthy({ isMaterial }) },
        more,
        agent: first.agent,
        session,
        lane: first.lane,
        mode: "steer",
        origin: "event",
        authority: first.authority,
        outside: first.outside === 1,
      },
      (tx, turn) => {
        for (const row of group) markTold(tx, row.key, turn, keepUntil(row, clock.now()));
      },
    );
    if (group.length < rows.length) this.nudge(session);
  }

  private async wakeWaiter(turn: TurnId, wait: string): Promise<void> {
    const { records } = this.parts;
    const claims = await listClaims(records, turn, wait);
    if (claims.length === 0 || (await claimedBy(records, turn, wait)).length < claims.length) return;
    await this.parts.resume(turn, { id: resumeIds.events(wait), name: wait });
  }
}

function toRow(event: SystemEvent, crowded: boolean, now: number): EventRow {
  const { key, kind, source, session, agent, label, authority, lane = "interactive", keepMs = KEPT_MS } = event;
  const body = event.body.length > MOST_BODY ? `${event.body.slice(0, MOST_BODY)}\n(cut here)` : event.body;
  return {
    key,
    kind,
    source,
    session,
    agent,
    authority,
    lane,
    route: JSON.stringify(event.route),
    outside: event.outside || authority === "outside" || authority === "stranger" ? 1 : 0,
    text: crowded ? null : JSON.stringify([label, body, ...(event.note ? [event.note] : [])]),
    at: now,
    keep_ms: keepMs,
  };
}

function keepUntil(row: EventRow, now: number): number | null {
  return row.keep_ms === null ? null : now + row.keep_ms;
}

function kin({ agent, route, authority, outside, lane }: EventRow): string {
  return JSON.stringify([agent, route, authority, outside, lane]);
}
