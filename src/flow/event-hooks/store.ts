/** What observers have yet to hear, and how far each has come. */
import type { HookEventName, Reads, SqlDialect, Tx } from "../../core/contracts/index.ts";

export interface LoggedEvent {
  seq: number;
  id: string;
  event: HookEventName;
  at: number;
  facts: string;
}

/** Idempotent per id: a repeated segment records the same event. */
export function insertEvent(tx: Tx, e: Omit<LoggedEvent, "seq"> & { session: string | null }): void {
  tx.run(
    "INSERT INTO hook_event (id, event, session, at, facts) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
    ...[e.id, e.event, e.session, e.at, e.facts],
  );
}

export function eventsAfter(
  db: Reads,
  seq: number,
  events: readonly HookEventName[],
  limit: number,
): Promise<LoggedEvent[]> {
  return db.all<LoggedEvent>(
    `SELECT seq, id, event, at, facts FROM hook_event WHERE seq > ? AND event IN (SELECT value FROM json_each(?))
     ORDER BY seq LIMIT ?`,
    seq,
    JSON.stringify(events),
    limit,
  );
}

const LAST_SEQ: Readonly<Record<SqlDialect, string>> = {
  sqlite: "SELECT seq FROM sqlite_sequence WHERE name = 'hook_event'",
  postgres: "SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS seq FROM hook_event_seq_seq",
};

/** The newest place there is: a new observer begins behind it. Rows that were removed count, too. */
export async function lastSeq(db: Reads): Promise<number> {
  const row = await db.get<{ seq: number }>(LAST_SEQ[db.dialect]);
  return row?.seq ?? 0;
}

export async function readPlace(db: Reads, source: string): Promise<number | undefined> {
  return (await db.get<{ seq: number }>("SELECT seq FROM hook_place WHERE source = ?", source))?.seq;
}

export function writePlace(tx: Tx, source: string, seq: number): void {
  tx.run(
    "INSERT INTO hook_place (source, seq) VALUES (?, ?) ON CONFLICT (source) DO UPDATE SET seq = excluded.seq",
    source,
    seq,
  );
}

/** Observers that are gone: nothing is kept for them. */
export function forgetOtherPlaces(tx: Tx, sources: readonly string[]): void {
  tx.run("DELETE FROM hook_place WHERE source NOT IN (SELECT value FROM json_each(?))", JSON.stringify(sources));
}

/** What every observer has heard, and what nobody took for too long. */
export function pruneEvents(tx: Tx, heard: number, before: number): void {
  tx.run("DELETE FROM hook_event WHERE seq <= ? OR at < ?", heard, before);
}

/** How many of these events wait behind a place. */
export async function countAfter(db: Reads, seq: number, events: readonly HookEventName[]): Promise<number> {
  const row = await db.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM hook_event WHERE seq > ? AND event IN (SELECT value FROM json_each(?))",
    seq,
    JSON.stringify(events),
  );
  return row?.n ?? 0;
}

/** A deleted conversation takes with it what observers haven't heard of it. */
export function eraseHookEvents(tx: Tx, session: string): void {
  tx.run("DELETE FROM hook_event WHERE session = ?", session);
}

/** After a restore: observers may have heard everything that the backup still had for them. */
export function dropHookEvents(tx: Tx): void {
  tx.run("DELETE FROM hook_event");
}
