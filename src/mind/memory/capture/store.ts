/** How far conversations were looked through for facts. */
import type { Reads, Tx } from "../../../core/contracts/index.ts";

export interface SaidRow {
  seq: number;
  role: string;
  content: string;
  outside: number;
  at: number;
  /** Who said it; null where nobody did. */
  person: string | null;
}

export async function readUpTo(db: Reads, session: string): Promise<number> {
  const row = await db.get<{ upto: number }>("SELECT upto FROM memory_capture WHERE session = ?", session);
  return row?.upto ?? 0;
}

export function messagesFrom(db: Reads, session: string, after: number, limit: number): Promise<SaidRow[]> {
  return db.all(
    // A forgotten message stays in the count of what was read, without its words: nothing is learned from it again.
    `SELECT seq, role, CASE WHEN forgotten IS NULL THEN content ELSE '[]' END AS content, outside, at, person
     FROM message WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`,
    session,
    after,
    limit,
  );
}

/** Messages of a person that nobody has looked through, counted up to `most`: a turn's end must not cost more in a long session. */
export async function waitingWords(db: Reads, session: string, most: number): Promise<number> {
  const row = await db.get<{ n: number }>(
    `SELECT COUNT(*) AS n FROM (SELECT 1 FROM message WHERE session = ? AND role = 'user'
     AND seq > COALESCE((SELECT upto FROM memory_capture WHERE session = ?), 0) LIMIT ?) AS w`,
    session,
    session,
    most,
  );
  return row?.n ?? 0;
}

/** Sessions used since then with messages nobody has looked through, the longest waiting first. */
export async function waitingSessions(db: Reads, since: number): Promise<string[]> {
  const rows = await db.all<{ session: string }>(
    `SELECT s.key AS session FROM session s JOIN message_shelf f ON f.session = s.key
     LEFT JOIN memory_capture c ON c.session = s.key
     WHERE s.updated_at > ? AND f.top > COALESCE(c.upto, 0) ORDER BY s.updated_at LIMIT 100`,
    since,
  );
  return rows.map((row) => row.session);
}

export function markRead(tx: Tx, session: string, upto: number, at: number): void {
  tx.run(
    `INSERT INTO memory_capture (session, upto, at) VALUES (?, ?, ?)
     ON CONFLICT (session) DO UPDATE SET upto = CASE WHEN excluded.upto > memory_capture.upto THEN excluded.upto ELSE memory_capture.upto END,
       at = excluded.at`,
    session,
    upto,
    at,
  );
}

export async function findLast(db: Reads, session: string): Promise<number> {
  const row = await db.get<{ seq: number | null }>("SELECT MAX(seq) AS seq FROM message WHERE session = ?", session);
  return row?.seq ?? 0;
}
