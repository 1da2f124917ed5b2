import type { Reads, SqlValue, Tx } from "../../core/contracts/index.ts";
import {
  type HistoryEntry,
  type JsonObject,
  type ModelMessage,
  type PersonId,
  type PolicyMode,
  type Role,
  readChildSession,
  type SessionKey,
  stricterMode,
  type TurnId,
} from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";

export interface SessionRow {
  key: SessionKey;
  agent: string;
  person: string | null;
  title: string | null;
  created_at: number;
  updated_at: number;
  messages: number;
  first: string | null;
  /** Its newest turn, as JSON. */
  last: string | null;
}

const SUMMARY = `SELECT s.key, s.agent, s.person, s.title, s.created_at, s.updated_at,
    (SELECT COUNT(*) FROM message m WHERE m.session = s.key) AS messages,
    (SELECT m.content FROM message m WHERE m.session = s.key AND m.replaced_by IS NULL
      ORDER BY m.seq LIMIT 1) AS first,
    (SELECT json_object('turn', t.id, 'state', t.state, 'failure', json_extract(t.result, '$.failure'),
        'reason', json_extract(t.result, '$.reason')) FROM turn t WHERE t.session = s.key AND t.state <> 'joined'
      ORDER BY t.accepted_at DESC LIMIT 1) AS last
  FROM session s`;

export function readSummary(db: Reads, key: string): Promise<SessionRow | undefined> {
  return db.get(`${SUMMARY} WHERE s.key = ?`, key);
}

export interface ListedSessions {
  search?: string;
  agent?: string;
}

/** The most recently used first. */
export function listSummaries(db: Reads, q: ListedSessions & { limit: number }): Promise<SessionRow[]> {
  const { filter, params } = matching(q);
  return db.all(`${SUMMARY} ${filter} ORDER BY s.updated_at DESC, s.key LIMIT ?`, ...params, q.limit);
}

export async function countSummaries(db: Reads, q: ListedSessions): Promise<number> {
  const { filter, params } = matching(q);
  return (await db.get<{ n: number }>(`SELECT COUNT(*) AS n FROM session s ${filter}`, ...params))?.n ?? 0;
}

function matching(q: ListedSessions): { filter: string; params: SqlValue[] } {
  const where: string[] = [];
  const params: SqlValue[] = [];
  if (q.agent) {
    where.push("s.agent = ?");
    params.push(q.agent);
  }
  if (q.search) {
    // A session without its own title is shown by its first message, so that is searched too.
    where.push(
      `(instr(lower(s.key), ?) > 0 OR instr(lower(COALESCE(s.title, '')), ?) > 0 OR instr(lower(COALESCE(
        (SELECT m.content FROM message m WHERE m.session = s.key ORDER BY m.seq LIMIT 1), '')), ?) > 0)`,
    );
    params.push(...Array<string>(3).fill(q.search.toLowerCase()));
  }
  return { filter: where.length ? `WHERE ${where.join(" AND ")}` : "", params };
}

interface MessageRow {
  session: SessionKey;
  seq: number;
  id: string;
  turn: TurnId;
  role: Role;
  content: string;
  person: string | null;
  meta: string | null;
  at: number;
  replaced_by: TurnId | null;
  forgotten: string | null;
}

/** The newest messages before `before`, oldest first. */
export async function readMessages(
  db: Reads,
  q: { session: string; before?: number; limit: number },
): Promise<HistoryEntry[]> {
  const rows = await db.all<MessageRow>(
    `SELECT session, seq, id, turn, role, content, person, meta, at, replaced_by, forgotten FROM message
     WHERE session = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
    q.session,
    q.before ?? Number.MAX_SAFE_INTEGER,
    q.limit,
  );
  return rows.reverse().map((row) => ({
    session: row.session,
    seq: row.seq,
    id: row.id,
    turn: row.turn,
    role: row.role,
    content: JSON.parse(row.content) as ModelMessage["content"],
    at: row.at,
    ...(row.person === null ? {} : { person: row.person as PersonId }),
    ...(row.meta === null ? {} : { meta: JSON.parse(row.meta) as JsonObject }),
    ...defined({ replacedBy: row.replaced_by ?? undefined }),
    ...(row.forgotten === null ? {} : { forgotten: true as const }),
  }));
}

/** From now on the model sees nothing older, and the prompt is rebuilt from the agent's files. */
export function resetSession(tx: Tx, key: SessionKey, at: number): void {
  tx.run(
    `UPDATE session SET prompt = NULL, compaction = NULL, snapshot = NULL, updated_at = ?,
       context_from = (SELECT COALESCE(MAX(seq), 0) + 1 FROM message WHERE session = ?) WHERE key = ?`,
    at,
    key,
    key,
  );
}

/** Rebuilds the frozen prompt and snapshot; the start of the model's view stays. */
export function forgetPrompt(tx: Tx, key: SessionKey): void {
  tx.run("UPDATE session SET prompt = NULL, snapshot = NULL WHERE key = ?", key);
}

export function renameSession(tx: Tx, key: SessionKey, title: string): void {
  tx.run("UPDATE session SET title = ? WHERE key = ?", title, key);
}

export function deleteSession(tx: Tx, key: SessionKey): void {
  tx.run("DELETE FROM session WHERE key = ?", key);
}

export function openTurns(db: Reads, key: string): Promise<{ id: TurnId }[]> {
  return db.all("SELECT id FROM turn WHERE session = ? AND ended_at IS NULL", key);
}

export function insertSession(tx: Tx, s: { key: SessionKey; agent: string; person: string | null; at: number }): void {
  tx.run(
    `INSERT INTO session (key, agent, person, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET updated_at = excluded.updated_at`,
    s.key,
    s.agent,
    s.person,
    s.at,
    s.at,
  );
}

/** Null: the agent's own. */
export function setMode(tx: Tx, key: SessionKey, mode: PolicyMode | null): void {
  tx.run("UPDATE session SET mode = ? WHERE key = ?", mode, key);
}

/** The strictest mode that was set for this session or for one it works for; the agent's own without a word. */
export async function findMode(db: Reads, key: string): Promise<PolicyMode | undefined> {
  const keys = [key];
  for (let read = readChildSession(key); read; read = readChildSession(read.parent)) keys.push(read.parent);
  const rows = await db.all<{ mode: PolicyMode }>(
    "SELECT mode FROM session WHERE key IN (SELECT value FROM json_each(?)) AND mode IS NOT NULL",
    JSON.stringify(keys),
  );
  return rows.map(({ mode }) => mode).reduce<PolicyMode | undefined>((a, b) => (a ? stricterMode(a, b) : b), undefined);
}

export async function countMessages(db: Reads, key: string): Promise<number> {
  return (await db.get<{ n: number }>("SELECT COUNT(*) AS n FROM message WHERE session = ?", key))?.n ?? 0;
}

export async function idleSince(db: Reads, before: number): Promise<SessionKey[]> {
  const rows = await db.all<{ key: SessionKey }>(
    `SELECT key FROM session s WHERE updated_at < ?
     AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.session = s.key AND t.ended_at IS NULL) ORDER BY updated_at`,
    before,
  );
  return rows.map((row) => row.key);
}

/** Conversations of single calls that nobody used since, named or waits in. */
export async function briefSince(db: Reads, before: number): Promise<SessionKey[]> {
  const rows = await db.all<{ key: SessionKey }>(
    `SELECT key FROM session s WHERE brief = 1 AND updated_at < ? AND title IS NULL
     AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.session = s.key AND t.ended_at IS NULL) ORDER BY updated_at LIMIT 1000`,
    before,
  );
  return rows.map((row) => row.key);
}

/**
 * The session is there and in use now. `brief`: it is made for one call; one that is there already stays what it is.
 * `mayAddReader`: the speaker may be a new reader.
 */
export function useSession(
  tx: Tx,
  use: { session: SessionKey; agent: string; person: string; at: number; mayAddReader: boolean; brief: boolean },
): void {
  // There is a new reader from now on, so the prompt and snapshot are rebuilt.
  const isNewReader = `excluded.person IS DISTINCT FROM session.person AND NOT EXISTS
    (SELECT 1 FROM turn WHERE session = excluded.key AND person = excluded.person)`;
  const renewed = use.mayAddReader
    ? `, prompt = CASE WHEN ${isNewReader} THEN NULL ELSE session.prompt END,
         snapshot = CASE WHEN ${isNewReader} THEN NULL ELSE session.snapshot END`
    : "";
  tx.run(
    `INSERT INTO session (key, agent, person, created_at, updated_at, brief) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET updated_at = excluded.updated_at${renewed}`,
    use.session,
    use.agent,
    use.person,
    use.at,
    use.at,
    use.brief ? 1 : 0,
  );
}

export async function sessionsPerAgent(db: Reads): Promise<Map<string, number>> {
  const rows = await db.all<{ agent: string; n: number }>("SELECT agent, COUNT(*) AS n FROM session GROUP BY agent");
  return new Map(rows.map((row) => [row.agent, row.n]));
}

export async function findAgent(db: Reads, session: string): Promise<string | undefined> {
  return (await db.get<{ agent: string }>("SELECT agent FROM session WHERE key = ?", session))?.agent;
}

export async function hasSession(db: Reads, session: string): Promise<boolean> {
  return (await db.get("SELECT 1 FROM session WHERE key = ?", session)) !== undefined;
}

/** How many sessions whose keys start like this were created since then, not counting those of single calls; at most `most`. */
export async function sessionsSince(db: Reads, prefix: string, since: number, most: number): Promise<number> {
  const found = await db.get<{ n: number }>(
    `SELECT COUNT(*) AS n FROM
     (SELECT 1 FROM session WHERE key >= ? AND key < ? AND created_at > ? AND brief = 0 LIMIT ?) AS w`,
    prefix,
    `${prefix}\u{10FFFF}`,
    since,
    most,
  );
  return found?.n ?? 0;
}
