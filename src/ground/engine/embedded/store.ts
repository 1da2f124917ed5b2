/** The embedded engine's SQL: turns, journal, events, slots. Every change is made inside a caller's transaction. */
import type { EngineEvent, JournalEntry, Outcome, SqlValue, Tx, Wake } from "../../../core/contracts/index.ts";
import {
  acceptIds,
  asId,
  commandLane,
  compactLane,
  type Json,
  type LaneClass,
  type SessionKey,
  type TurnId,
} from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import type { SqliteRecords } from "../../records/index.ts";

export interface EngineTurnRow {
  id: TurnId;
  session: SessionKey;
  lane: LaneClass;
  ord: number;
  status: "open" | "parked" | "ended" | "attention";
  body: string;
  segment: number;
  wake: string;
  park_on: string | null;
  deadline: number | null;
  state: string | null;
  state_version: number | null;
  holds: number;
}

export interface JournalRow {
  idx: number;
  kind: "step" | "effect";
  name: string;
  state: "intent" | "done" | "unknown";
  attempt: string;
  payload: string | null;
}

export type Parked = Extract<Outcome, { park: unknown }>["park"];

const TURN_COLUMNS =
  "id, session, lane, ord, status, body, segment, wake, park_on, deadline, state, state_version, holds";

const STARTED = '{"why":"start"}';

export class EngineStore {
  private readonly db: SqliteRecords;

  constructor(db: SqliteRecords) {
    this.db = db;
  }

  byAcceptId(id: string): TurnId | undefined {
    return this.db.one<{ id: TurnId }>("SELECT id FROM engine_turn WHERE accept_id = ?", id)?.id;
  }

  turn(id: TurnId): EngineTurnRow | undefined {
    return this.db.one<EngineTurnRow>(`SELECT ${TURN_COLUMNS} FROM engine_turn WHERE id = ?`, id);
  }

  open(): EngineTurnRow[] {
    return this.db.many<EngineTurnRow>(`SELECT ${TURN_COLUMNS} FROM engine_turn WHERE status = 'open' ORDER BY ord`);
  }

  /** Turns that keep their session: parked, or woken from such a park and not yet through. */
  holders(): { id: TurnId; session: SessionKey }[] {
    return this.db.many(
      `SELECT id, session FROM engine_turn WHERE status = 'parked' AND holds = 1
       UNION ALL SELECT id, session FROM engine_turn WHERE status = 'open' AND holds = 1`,
    );
  }

  lastOrder(): number {
    return this.db.one<{ n: number | null }>("SELECT MAX(ord) AS n FROM engine_turn")?.n ?? 0;
  }

  /** Returns what was stored, as `turn` would read it. */
  insertTurn(
    tx: Tx,
    t: { id: TurnId; acceptId: string; session: SessionKey; lane: LaneClass; ord: number; body: Json; at: number },
  ): EngineTurnRow {
    const body = JSON.stringify(t.body);
    tx.run(
      `INSERT INTO engine_turn (id, accept_id, session, lane, ord, status, body, wake, accepted_at, updated_at)
       VALUES (?, ?, ?, ?, ?, 'open', ?, ?, ?, ?)`,
      t.id,
      t.acceptId,
      t.session,
      t.lane,
      t.ord,
      body,
      STARTED,
      t.at,
      t.at,
    );
    const { id, session, lane, ord } = t;
    const parked = { park_on: null, deadline: null, state: null, state_version: null, holds: 0 };
    return { id, session, lane, ord, status: "open", body, segment: 0, wake: STARTED, ...parked };
  }

  endTurn(tx: Tx, id: TurnId, result: Json, version: string, at: number): void {
    tx.run(
      `UPDATE engine_turn SET status = 'ended', result = ?, state = NULL, park_on = NULL, deadline = NULL, app_version = ?,
       updated_at = ? WHERE id = ?`,
      JSON.stringify(result),
      version,
      at,
      id,
    );
  }

  parkTurn(tx: Tx, id: TurnId, park: Parked, version: string, at: number): void {
    tx.run(
      `UPDATE engine_turn SET status = 'parked', park_on = ?, deadline = ?, state = ?, state_version = ?, holds = ?,
       app_version = ?, updated_at = ? WHERE id = ?`,
      JSON.stringify(park.on),
      park.deadline ?? null,
      JSON.stringify(park.state),
      park.stateVersion,
      park.holdsSession ? 1 : 0,
      version,
      at,
      id,
    );
  }

  /** The next segment of a turn, placed behind what the session already waits for. */
  wakeTurn(tx: Tx, id: TurnId, wake: Wake, ord: number, at: number): void {
    tx.run(
      `UPDATE engine_turn SET status = 'open', segment = segment + 1, wake = ?, ord = ?, park_on = NULL, deadline = NULL,
       updated_at = ? WHERE id = ?`,
      JSON.stringify(wake),
      ord,
      at,
      id,
    );
  }

  setAside(tx: Tx, id: TurnId, why: string, at: number): void {
    tx.run("UPDATE engine_turn SET status = 'attention', result = ?, updated_at = ? WHERE id = ?", why, at, id);
  }

  journal(turn: TurnId, segment: number): JournalRow[] {
    return this.db.many<JournalRow>(
      "SELECT idx, kind, name, state, attempt, payload FROM engine_journal WHERE turn = ? AND segment = ? ORDER BY idx",
      turn,
      segment,
    );
  }

  addEntry(
    tx: Tx,
    e: {
      turn: TurnId;
      segment: number;
      idx: number;
      kind: "step" | "effect";
      name: string;
      attempt: string;
      at: number;
    },
    done?: { payload: Json; endedAt: number },
  ): void {
    tx.run(
      `INSERT INTO engine_journal (turn, segment, idx, kind, name, state, attempt, payload, at, ended_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      e.turn,
      e.segment,
      e.idx,
      e.kind,
      e.name,
      done ? "done" : "intent",
      e.attempt,
      done ? JSON.stringify(done.payload) : null,
      e.at,
      done?.endedAt ?? null,
    );
  }

  /** An intent that came to nothing is meant once more. */
  attemptAgain(tx: Tx, e: { turn: TurnId; segment: number; idx: number; attempt: string; at: number }): void {
    tx.run(
      "UPDATE engine_journal SET attempt = ?, at = ? WHERE turn = ? AND segment = ? AND idx = ?",
      e.attempt,
      e.at,
      e.turn,
      e.segment,
      e.idx,
    );
  }

  /** Keys of effects in open turns whose outcome is not recorded. */
  openIntents(): string[] {
    return this.db
      .many<{ key: string }>(
        `SELECT j.turn || '.' || j.segment || '.' || j.idx AS key FROM engine_turn t
         JOIN engine_journal j ON j.turn = t.id AND j.segment = t.segment
         WHERE t.status = 'open' AND j.state = 'intent'`,
      )
      .map(({ key }) => key);
  }

  closeEntry(
    tx: Tx,
    at: { turn: TurnId; segment: number; idx: number; endedAt: number },
    state: "done" | "unknown",
    payload: Json,
  ): void {
    tx.run(
      "UPDATE engine_journal SET state = ?, payload = ?, ended_at = ? WHERE turn = ? AND segment = ? AND idx = ?",
      state,
      JSON.stringify(payload),
      at.endedAt,
      at.turn,
      at.segment,
      at.idx,
    );
  }

  event(turn: TurnId, name: string): { id: string } | undefined {
    return this.db.one("SELECT id FROM engine_event WHERE turn = ? AND name = ?", turn, name);
  }

  /** `at` is later than that of any earlier event of the turn, so that it tells the order even when the clock does not. */
  addEvent(tx: Tx, turn: TurnId, event: EngineEvent, at: number): void {
    tx.run(
      `INSERT INTO engine_event (turn, name, id, value, at)
       SELECT ?, ?, ?, ?, MAX(w.at) FROM (SELECT ? AS at UNION ALL SELECT at + 1 FROM engine_event WHERE turn = ?) AS w`,
      turn,
      event.name,
      event.id,
      JSON.stringify(event.value),
      at,
      turn,
    );
  }

  /** Events that arrived and were not yet given to a segment, in order of arrival. */
  unused(turn: TurnId): EngineEvent[] {
    return this.db
      .many<{ id: string; name: string; value: string }>(
        "SELECT id, name, value FROM engine_event WHERE turn = ? AND used = 0 ORDER BY at, name",
        turn,
      )
      .map((row) => ({ ...row, value: JSON.parse(row.value) as Json }));
  }

  useEvents(tx: Tx, turn: TurnId, names: string[]): void {
    for (const name of names) tx.run("UPDATE engine_event SET used = 1 WHERE turn = ? AND name = ?", turn, name);
  }

  setSlot(tx: Tx, id: string, slot: { due: number; session: SessionKey; body: Json } | null): void {
    if (!slot) {
      tx.run("DELETE FROM engine_slot WHERE id = ?", id);
      return;
    }
    tx.run(
      `INSERT INTO engine_slot (id, due, session, body) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET due = excluded.due, session = excluded.session, body = excluded.body`,
      id,
      slot.due,
      slot.session,
      JSON.stringify(slot.body),
    );
  }

  /** Ended turns of a session and of its command lane. */
  erase(tx: Tx, session: SessionKey): void {
    const turns = this.db.many<{ id: TurnId }>(
      "SELECT id FROM engine_turn WHERE session IN (?, ?, ?) AND status IN ('ended', 'attention')",
      session,
      commandLane(session),
      compactLane(session),
    );
    for (const { id } of turns) this.eraseTurn(tx, id);
  }

  /** The row stays for its accept id; what it said and did goes. */
  eraseTurn(tx: Tx, id: TurnId): void {
    tx.run("DELETE FROM engine_journal WHERE turn = ?", id);
    tx.run("DELETE FROM engine_event WHERE turn = ?", id);
    tx.run("UPDATE engine_turn SET body = 'null', result = NULL WHERE id = ?", id);
  }

  /** At most a thousand at a time, so that forgetting a busy account never blocks a turn for long. */
  withIdsFrom(prefix: string): TurnId[] {
    return this.db
      .many<{ id: TurnId }>(
        "SELECT id FROM engine_turn WHERE accept_id >= ? AND accept_id < ? LIMIT 1000",
        prefix,
        `${prefix}\u{10FFFF}`,
      )
      .map((row) => row.id);
  }

  forgetId(tx: Tx, turn: TurnId): void {
    tx.run("UPDATE engine_turn SET accept_id = ? WHERE id = ?", acceptIds.forgotten(turn), turn);
  }

  /** At most a thousand at a time, so that pruning never blocks a turn for long. */
  endedBefore(before: number): TurnId[] {
    return this.db
      .many<{ id: TurnId }>(
        `SELECT id FROM engine_turn WHERE status IN ('ended', 'attention') AND updated_at < ?
         AND EXISTS (SELECT 1 FROM engine_journal j WHERE j.turn = engine_turn.id) LIMIT 1000`,
        before,
      )
      .map((row) => row.id);
  }

  /** The next thing time itself wakes: a deadline of a parked turn, or a slot. */
  nextDue(): number | undefined {
    const row = this.db.one<{ due: number | null }>(
      `SELECT MIN(due) AS due FROM (
         SELECT MIN(deadline) AS due FROM engine_turn WHERE status = 'parked' AND deadline IS NOT NULL
         UNION ALL SELECT MIN(due) FROM engine_slot) AS w`,
    );
    return row?.due ?? undefined;
  }

  overdueTurns(now: number): TurnId[] {
    return this.db
      .many<{ id: TurnId }>(
        "SELECT id FROM engine_turn WHERE status = 'parked' AND deadline IS NOT NULL AND deadline <= ? ORDER BY deadline",
        now,
      )
      .map((row) => row.id);
  }

  dueSlots(now: number): { id: string; due: number; session: SessionKey; body: Json }[] {
    return this.db
      .many<{ id: string; due: number; session: SessionKey; body: string }>(
        "SELECT id, due, session, body FROM engine_slot WHERE due <= ? ORDER BY due",
        now,
      )
      .map((row) => ({ ...row, body: JSON.parse(row.body) as Json }));
  }

  entries(query: { session?: SessionKey; turn?: TurnId; open?: boolean }): JournalEntry[] {
    const where = ["1 = 1"];
    const params: SqlValue[] = [];
    if (query.turn !== undefined) {
      where.push("t.id = ?");
      params.push(query.turn);
    }
    if (query.session !== undefined) {
      where.push("t.session = ?");
      params.push(query.session);
    }
    if (query.open) where.push("t.status IN ('open', 'parked')");
    return this.db
      .many<{
        turn: string;
        session: string;
        segment: number;
        idx: number;
        kind: "step" | "effect";
        name: string;
        state: "intent" | "done" | "unknown";
        at: number;
        ended_at: number | null;
        payload: string | null;
      }>(
        `SELECT j.turn, t.session, j.segment, j.idx, j.kind, j.name, j.state, j.at, j.ended_at, j.payload
         FROM engine_turn t JOIN engine_journal j ON j.turn = t.id
         WHERE ${where.join(" AND ")} ORDER BY t.ord, j.turn, j.segment, j.idx`,
        ...params,
      )
      .map((row) => ({
        turn: asId<TurnId>(row.turn),
        session: asId<SessionKey>(row.session),
        segment: row.segment,
        index: row.idx,
        kind: row.kind,
        name: row.name,
        state: row.state,
        at: row.at,
        ...defined({ endedAt: row.ended_at ?? undefined }),
        ...(row.payload === null ? {} : { payload: JSON.parse(row.payload) as Json }),
      }));
  }
}

/**
 * A home came back from a backup: what was open in it may have been done since, and is over. Timers that were due are gone; `timers`
 * take their places. `isQuiet`: none is left at all.
 */
export function endRestored(
  tx: Tx,
  how: {
    result: Json;
    at: number;
    isQuiet: boolean;
    timers: readonly { id: string; due: number; session: SessionKey; body: Json }[];
  },
): void {
  tx.run(
    `UPDATE engine_turn SET status = 'ended', result = ?, state = NULL, park_on = NULL, deadline = NULL, holds = 0, updated_at = ?
     WHERE status IN ('open', 'parked')`,
    JSON.stringify(how.result),
    how.at,
  );
  tx.run("DELETE FROM engine_slot WHERE due <= ?", how.isQuiet ? Number.MAX_SAFE_INTEGER : how.at);
  for (const { id, due, session, body } of how.isQuiet ? [] : how.timers) {
    tx.run(
      `INSERT INTO engine_slot (id, due, session, body) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET due = excluded.due, session = excluded.session, body = excluded.body`,
      id,
      due,
      session,
      JSON.stringify(body),
    );
  }
}
