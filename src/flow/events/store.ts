import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { AgentId, Authority, EventKind, LaneClass, SessionKey, TurnId } from "../../core/domain/index.ts";

export interface EventRow {
  key: string;
  kind: Extract<EventKind, "process" | "child" | "peer" | "hook" | "watch" | "wake" | "goal" | "board">;
  source: string;
  session: SessionKey;
  agent: AgentId;
  route: string;
  authority: Authority;
  outside: number;
  lane: LaneClass;
  /** Label and body as JSON; null: only counted. */
  text: string | null;
  at: number;
  keep_ms: number | null;
}

export interface Claim {
  key: string;
  turn: TurnId;
  /** The event name the turn is parked on. */
  wait: string;
}

const COLUMNS = "key, kind, source, session, agent, route, authority, outside, lane, text, at, keep_ms";

/** Idempotent per key. */
export function insertEvent(tx: Tx, e: EventRow): void {
  tx.run(
    `INSERT INTO system_event (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
    ...[e.key, e.kind, e.source, e.session, e.agent, e.route, e.authority, e.outside, e.lane, e.text, e.at, e.keep_ms],
  );
}

/** Its text is in the history now; what stays is the key. */
export function markTold(tx: Tx, key: string, turn: TurnId, keepUntil: number | null): void {
  tx.run(
    "UPDATE system_event SET told = ?, keep_until = ?, text = NULL WHERE key = ? AND told IS NULL",
    turn,
    keepUntil,
    key,
  );
}

export function dropKept(tx: Tx, now: number): void {
  tx.run("DELETE FROM system_event WHERE told IS NOT NULL AND keep_until < ?", now);
}

export async function isKnown(db: Reads, key: string): Promise<boolean> {
  return (await db.get("SELECT 1 FROM system_event WHERE key = ?", key)) !== undefined;
}

export async function isTold(db: Reads, key: string): Promise<boolean> {
  return (await db.get("SELECT 1 FROM system_event WHERE key = ? AND told IS NOT NULL", key)) !== undefined;
}

export async function countWaiting(db: Reads, session: SessionKey): Promise<number> {
  const row = await db.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM system_event WHERE session = ? AND told IS NULL",
    session,
  );
  return row?.n ?? 0;
}

/** What waits for a message and is not awaited by a turn, in the order it came. */
export function waitingIn(db: Reads, session: SessionKey): Promise<EventRow[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM system_event WHERE session = ? AND told IS NULL
     AND key NOT IN (SELECT key FROM event_claim) ORDER BY seq`,
    session,
  );
}

export async function sessionsWaiting(db: Reads): Promise<SessionKey[]> {
  const rows = await db.all<{ session: SessionKey }>("SELECT DISTINCT session FROM system_event WHERE told IS NULL");
  return rows.map((row) => row.session);
}

/** The turn whose message carried this session's newest events. */
export async function lastTold(db: Reads, session: SessionKey): Promise<TurnId | undefined> {
  const row = await db.get<{ told: TurnId }>(
    "SELECT told FROM system_event WHERE session = ? AND told IS NOT NULL ORDER BY seq DESC LIMIT 1",
    session,
  );
  return row?.told;
}

/** The first claim holds. */
export function addClaim(tx: Tx, c: Claim): void {
  tx.run(
    "INSERT INTO event_claim (key, turn, wait) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
    c.key,
    c.turn,
    c.wait,
  );
}

export function dropClaim(tx: Tx, key: string): void {
  tx.run("DELETE FROM event_claim WHERE key = ?", key);
}

export function dropClaims(tx: Tx, turn: TurnId, wait?: string): void {
  if (wait === undefined) tx.run("DELETE FROM event_claim WHERE turn = ?", turn);
  else tx.run("DELETE FROM event_claim WHERE turn = ? AND wait = ?", turn, wait);
}

export function findClaim(db: Reads, key: string): Promise<Claim | undefined> {
  return db.get("SELECT key, turn, wait FROM event_claim WHERE key = ?", key);
}

export function listClaims(db: Reads, turn: TurnId, wait: string): Promise<Claim[]> {
  return db.all("SELECT key, turn, wait FROM event_claim WHERE turn = ? AND wait = ? ORDER BY key", turn, wait);
}

export function listWaits(db: Reads): Promise<Omit<Claim, "key">[]> {
  return db.all("SELECT DISTINCT turn, wait FROM event_claim");
}

/** What came of what this turn waits for. */
export function claimedBy(db: Reads, turn: TurnId, wait: string): Promise<EventRow[]> {
  return db.all(
    `SELECT ${COLUMNS.replaceAll(/\b(\w+)/g, "e.$1")} FROM system_event e JOIN event_claim c ON c.key = e.key
     WHERE c.turn = ? AND c.wait = ? AND e.told IS NULL ORDER BY e.seq`,
    turn,
    wait,
  );
}

/** Drops a session's undelivered events. Their keys stay known, so that a repeated event is still recognised. */
export function silenceEvents(tx: Tx, session: SessionKey): void {
  tx.run("UPDATE system_event SET told = '', text = NULL WHERE session = ? AND told IS NULL", session);
}

export function eventsWaiting(db: Reads, limit: number) {
  return db.all<{ session: string; agent: string; n: number; at: number }>(
    `SELECT session, MIN(agent) AS agent, COUNT(*) AS n, MIN(at) AS at FROM system_event WHERE told IS NULL
     GROUP BY session LIMIT ?`,
    limit,
  );
}

/** What an agent's events since then came from. */
export function sourcesSince(db: Reads, agent: string, since: number): Promise<{ source: string; n: number }[]> {
  return db.all(
    "SELECT source, COUNT(*) AS n FROM system_event WHERE agent = ? AND at > ? GROUP BY source LIMIT 20",
    agent,
    since,
  );
}

/** After a restore: events that waited in the backup may have been heard since. Their keys stay known. */
export function silenceAll(tx: Tx): void {
  tx.run("UPDATE system_event SET told = '', text = NULL WHERE told IS NULL");
  tx.run("DELETE FROM event_claim");
}
