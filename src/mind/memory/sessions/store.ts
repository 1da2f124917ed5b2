/** The index over session messages. A message's number in it is its session's number and its own: n * 2^24 + seq. */
import type { Reads, SqlDialect, Tx } from "../../../core/contracts/index.ts";
import type { Role } from "../../../core/domain/index.ts";
import { findWords, type WordQuery } from "../search/store.ts";

export const PER_SESSION = 16_777_216;

export interface Shelf {
  n: number;
  session: string;
  /** Whose session it is; null when it is gone. */
  agent: string | null;
  indexed: number;
}

/** Sessions with messages that aren't in the index yet. */
export function nextShelves(db: Reads, limit: number): Promise<Shelf[]> {
  return db.all(
    `SELECT f.n, f.session, f.indexed, (SELECT agent FROM session WHERE key = f.session) AS agent
     FROM message_shelf f WHERE f.indexed < f.top ORDER BY f.n LIMIT ?`,
    limit,
  );
}

export interface MessageRow {
  id: string;
  session: string;
  seq: number;
  role: Role;
  content: string;
  at: number;
}

export function messagesAfter(db: Reads, session: string, after: number, limit: number): Promise<MessageRow[]> {
  return db.all(
    // A conversation that is imported may have forgotten messages: they stay out of the search.
    `SELECT id, session, seq, role, CASE WHEN forgotten IS NULL THEN content ELSE '[]' END AS content, at
     FROM message WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`,
    session,
    after,
    limit,
  );
}

/** A virtual table of SQLite takes no conflict clause. */
const INTO_WORDS: Readonly<Record<SqlDialect, string>> = {
  sqlite: `INSERT OR REPLACE INTO message_fts (rowid, words)
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?)`,
  postgres: `INSERT INTO message_fts (rowid, words)
    SELECT json_extract(value, '$[0]')::bigint, json_extract(value, '$[1]') FROM json_each(?)
    ON CONFLICT (rowid) DO UPDATE SET words = excluded.words`,
};

/** The same message again replaces its entry, so a pass that was cut off may be repeated. */
export function indexMessages(tx: Tx, shelf: Shelf, messages: readonly { seq: number; words: string }[]): void {
  tx.run(
    INTO_WORDS[tx.dialect],
    JSON.stringify(messages.map(({ seq, words }) => [shelf.n * PER_SESSION + seq, words])),
  );
}

export function dropFromIndex(tx: Tx, numbers: readonly number[]): void {
  tx.run(
    "DELETE FROM message_fts WHERE rowid IN (SELECT CAST(value AS BIGINT) FROM json_each(?))",
    JSON.stringify(numbers),
  );
}

/** `to` undefined: all there is. */
export function markIndexed(tx: Tx, shelf: Shelf, to: number | undefined): void {
  if (to === undefined) tx.run("UPDATE message_shelf SET indexed = top WHERE n = ?", shelf.n);
  else tx.run("UPDATE message_shelf SET indexed = ? WHERE n = ?", to, shelf.n);
}

const MATCHING: WordQuery = {
  sqlite: `SELECT group_concat(rowid) AS numbers FROM
    (SELECT rowid FROM message_fts WHERE message_fts MATCH ? ORDER BY rowid DESC LIMIT ?)`,
  postgres: `SELECT string_agg(w.rowid::text, ',' ORDER BY w.rowid DESC) AS numbers FROM
    (SELECT rowid FROM message_fts WHERE found @@ ?::tsquery ORDER BY rowid DESC LIMIT ?) AS w`,
};

export async function matching(db: Reads, match: string, limit: number): Promise<number[]> {
  return findWords(db, MATCHING, match, limit);
}

/** Messages of the sessions between two messages. */
export async function between(db: Reads, oldest: number, newest: number): Promise<number> {
  const row = await db.get<{ total: number | null }>(
    "SELECT SUM(indexed) AS total FROM message_shelf WHERE n BETWEEN ? AND ?",
    Math.floor(oldest / PER_SESSION),
    Math.floor(newest / PER_SESSION),
  );
  return row?.total ?? 0;
}

export async function messageCount(db: Reads): Promise<number> {
  return (await db.get<{ total: number | null }>("SELECT SUM(indexed) AS total FROM message_shelf"))?.total ?? 0;
}

export async function waitingCount(db: Reads): Promise<number> {
  const row = await db.get<{ total: number | null }>(
    "SELECT SUM(top - indexed) AS total FROM message_shelf WHERE indexed < top",
  );
  return row?.total ?? 0;
}

/** Numbers of a person's sessions, newest first. */
export async function listShelves(db: Reads, person: string, limit: number): Promise<number[]> {
  const rows = await db.all<{ n: number }>(
    `SELECT f.n FROM session s JOIN message_shelf f ON f.session = s.key WHERE s.person = ?
     ORDER BY s.updated_at DESC LIMIT ?`,
    person,
    limit,
  );
  return rows.map((row) => row.n);
}

export async function shelvesNamed(db: Reads, sessions: readonly string[]): Promise<number[]> {
  const rows = await db.all<{ n: number }>(
    "SELECT n FROM message_shelf WHERE session IN (SELECT value FROM json_each(?))",
    JSON.stringify(sessions),
  );
  return rows.map((row) => row.n);
}

/** Every conversation, or those of an agent. */
export async function listSessions(db: Reads, agent: string | undefined): Promise<string[]> {
  const rows = await db.all<{ key: string }>(
    `SELECT key FROM session ${agent === undefined ? "" : "WHERE agent = ?"}`,
    ...(agent === undefined ? [] : [agent]),
  );
  return rows.map((row) => row.key);
}

export async function sessionsAt(db: Reads, shelves: readonly number[]): Promise<string[]> {
  const rows = await db.all<{ session: string }>(
    "SELECT session FROM message_shelf WHERE n IN (SELECT CAST(value AS BIGINT) FROM json_each(?))",
    JSON.stringify(shelves),
  );
  return rows.map((row) => row.session);
}

export interface HavingRow {
  seq: number;
  role: Role;
  content: string;
  forgotten: string | null;
}

/** Messages whose stored form has all of these in it, in upper or lower case, or has characters besides ASCII. */
export function messagesHaving(
  db: Reads,
  of: { session: string; needles: readonly string[]; after: number; limit: number },
): Promise<HavingRow[]> {
  return db.all(
    `SELECT seq, role, content, forgotten FROM message WHERE session = ? AND seq > ? AND (
       octet_length(content) > length(content) OR NOT EXISTS (SELECT 1 FROM json_each(?) WHERE instr(lower(message.content), value) = 0))
     ORDER BY seq LIMIT ?`,
    of.session,
    of.after,
    JSON.stringify(of.needles),
    of.limit,
  );
}

/** Under which numbers the index has these conversations. */
export async function listNumbers(db: Reads, sessions: readonly string[]): Promise<Map<string, number>> {
  const rows = await db.all<{ n: number; session: string }>(
    "SELECT n, session FROM message_shelf WHERE session IN (SELECT value FROM json_each(?))",
    JSON.stringify(sessions),
  );
  return new Map(rows.map((row) => [row.session, row.n]));
}

/** With whose turn it was said in, and whether text from outside was in the conversation by then. */
export function messageAt(
  db: Reads,
  number: number,
): Promise<
  | (MessageRow & { person: string | null; speaker: string | null; tainted: number; forgotten: string | null })
  | undefined
> {
  return db.get(
    `SELECT m.id, m.session, m.seq, m.role, m.content, m.at, m.forgotten,
       (SELECT person FROM session WHERE key = m.session) AS person,
       (SELECT speaker FROM turn WHERE id = m.turn) AS speaker,
       EXISTS (SELECT 1 FROM message o WHERE o.session = m.session AND o.seq <= m.seq AND o.outside = 1) AS tainted
     FROM message_shelf f
     JOIN message m ON m.session = f.session AND m.seq = ? WHERE f.n = ?`,
    number % PER_SESSION,
    Math.floor(number / PER_SESSION),
  );
}
