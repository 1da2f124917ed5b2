import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { HistoryEntry, Json, ModelMessage, SessionKey, TurnId } from "../../core/domain/index.ts";
import { masked } from "./forgotten.ts";

export interface NewMessage {
  session: SessionKey;
  id: string;
  turn: TurnId;
  message: ModelMessage;
  person?: string;
  at: number;
  tokens: number;
  meta?: HistoryEntry["meta"];
  /** It carries text from outside. */
  outside?: boolean;
}

/** Appends to the history. Idempotent per id, so a repeated step writes the same row. */
export function appendMessage(tx: Tx, m: NewMessage): void {
  tx.run(
    `INSERT INTO message (session, seq, id, turn, role, content, person, tokens, outside, meta, at)
     VALUES (?, (SELECT COALESCE(MAX(seq), 0) + 1 FROM message WHERE session = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    m.session,
    m.session,
    m.id,
    m.turn,
    m.message.role,
    JSON.stringify(m.message.content),
    m.person ?? null,
    m.tokens,
    m.outside ? 1 : 0,
    m.meta ? JSON.stringify(m.meta) : null,
    m.at,
  );
}

export interface WindowRow {
  seq: number;
  id: string;
  role: ModelMessage["role"];
  content: string;
  tokens: number;
  outside: number;
  turn: TurnId;
  /** The turn that had it forgotten, empty for a person; null: it was not. */
  forgotten: string | null;
}

/** The newest messages from `from` on, newest first, at most `limit`. */
export function readWindow(db: Reads, session: SessionKey, from: number, limit: number): Promise<WindowRow[]> {
  return db.all(
    `SELECT seq, id, role, content, tokens, outside, turn, forgotten FROM message
     WHERE session = ? AND seq >= ? AND replaced_by IS NULL ORDER BY seq DESC LIMIT ?`,
    session,
    from,
    limit,
  );
}

/** A message and all that followed it, up to the turn that takes its place, are no longer shown to models. */
export function replaceFrom(tx: Tx, session: SessionKey, message: string, by: TurnId): void {
  tx.run(
    `UPDATE message SET replaced_by = ? WHERE session = ? AND replaced_by IS NULL AND turn <> ?
     AND seq >= (SELECT seq FROM message WHERE id = ?)`,
    by,
    session,
    by,
    message,
  );
}

/** Messages of a stretch of the history, oldest first. */
export async function readStretch(
  db: Reads,
  session: SessionKey,
  from: number,
  to: number,
): Promise<{ seq: number; message: ModelMessage; outside: boolean }[]> {
  const rows = await db.all<WindowRow>(
    `SELECT seq, id, role, content, tokens, outside, turn, forgotten FROM message
     WHERE session = ? AND seq >= ? AND seq < ? AND replaced_by IS NULL ORDER BY seq`,
    session,
    from,
    to,
  );
  return rows.map((row) => ({
    seq: row.seq,
    message: readMessage(row),
    outside: row.outside === 1,
  }));
}

/** A message as models read it. */
export function readMessage(row: Pick<WindowRow, "role" | "content" | "forgotten">): ModelMessage {
  const message = { role: row.role, content: JSON.parse(row.content) } as ModelMessage;
  return row.forgotten === null ? message : masked(message);
}

/** Models no longer read these. Idempotent; the first to have one forgotten stays noted. */
export function forgetMessages(tx: Tx, session: string, numbers: readonly number[], by: string): void {
  tx.run(
    `UPDATE message SET forgotten = ? WHERE session = ? AND forgotten IS NULL
     AND seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`,
    by,
    session,
    JSON.stringify(numbers),
  );
}

export function listCarries(db: Reads): Promise<{ id: string; session: SessionKey; carry: string }[]> {
  return db.all("SELECT id, session, carry FROM compaction");
}

export function replaceCarry(tx: Tx, id: string, carry: string): void {
  tx.run("UPDATE compaction SET carry = ? WHERE id = ?", carry, id);
}

export interface SessionContext {
  agent: string;
  prompt: string | null;
  model: string | null;
  thinking: string | null;
  context_from: number;
  compaction: string | null;
  snapshot: string | null;
}

export function readSession(db: Reads, session: SessionKey): Promise<SessionContext | undefined> {
  return db.get(
    "SELECT agent, prompt, model, thinking, context_from, compaction, snapshot FROM session WHERE key = ?",
    session,
  );
}

/** The number the next message gets. */
export async function nextNumber(db: Reads, session: SessionKey): Promise<number> {
  const row = await db.get<{ top: number | null }>("SELECT MAX(seq) AS top FROM message WHERE session = ?", session);
  return (row?.top ?? 0) + 1;
}

export async function countMessages(db: Reads, session: SessionKey): Promise<number> {
  return (await db.get<{ n: number }>("SELECT COUNT(*) AS n FROM message WHERE session = ?", session))?.n ?? 0;
}

/** What the provider counted for this request and its answer. */
export function readReported(
  db: Reads,
  turn: string,
  call: number,
): Promise<{ model: string; tokens: number; at: number } | undefined> {
  return db.get(
    `SELECT model, input_tokens + cache_read_tokens + cache_write_tokens + output_tokens AS tokens, at FROM usage
     WHERE turn = ? AND call = ? AND input_tokens + cache_read_tokens + cache_write_tokens > 0`,
    turn,
    call,
  );
}

/** When the session was last compacted or that was undone; 0: never. */
export async function lastChange(db: Reads, session: SessionKey): Promise<number> {
  const row = await db.get<{ at: number | null }>(
    "SELECT MAX(CASE WHEN undone_at > at THEN undone_at ELSE at END) AS at FROM compaction WHERE session = ?",
    session,
  );
  return row?.at ?? 0;
}

export interface CompactionRow {
  id: string;
  session: SessionKey;
  previous: string | null;
  from_seq: number;
  to_seq: number;
  carry: string;
  how: string;
  model: string | null;
  focus: string | null;
  tokens_before: number;
  tokens_after: number;
  tainted: number;
  sent_in: number;
  turn: string;
  at: number;
  undone_at: number | null;
}

export function readCompaction(db: Reads, id: string): Promise<CompactionRow | undefined> {
  return db.get("SELECT * FROM compaction WHERE id = ?", id);
}

/** The newest ones of a session, newest first. */
export function listCompactions(db: Reads, session: SessionKey, limit: number): Promise<CompactionRow[]> {
  return db.all("SELECT * FROM compaction WHERE session = ? ORDER BY at DESC, id DESC LIMIT ?", session, limit);
}

/** Keeps a compaction that its session shows now; idempotent per id. */
export function keepCompaction(tx: Tx, c: Omit<CompactionRow, "undone_at" | "from_seq"> & { base: number }): void {
  tx.run(
    `INSERT INTO compaction (id, session, previous, from_seq, to_seq, carry, how, model, focus, tokens_before, tokens_after,
       tainted, sent_in, turn, at)
     SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM session WHERE key = ? AND compaction = ?)
     ON CONFLICT (id) DO NOTHING`,
    ...[c.id, c.session, c.previous, c.base, c.to_seq, c.carry, c.how, c.model, c.focus],
    ...[c.tokens_before, c.tokens_after, c.tainted, c.sent_in, c.turn, c.at],
    ...[c.session, c.id],
  );
}

export function markUndone(tx: Tx, id: string, at: number): void {
  tx.run("UPDATE compaction SET undone_at = ? WHERE id = ? AND undone_at IS NULL", at, id);
}

export interface StoredPrompt {
  system: string;
  tools: string;
  shared: number | null;
}

export function readPrompt(db: Reads, hash: string): Promise<StoredPrompt | undefined> {
  return db.get("SELECT system, tools, shared FROM prompt WHERE hash = ?", hash);
}

export function keepPrompt(tx: Tx, p: StoredPrompt & { hash: string; at: number }): void {
  tx.run(
    "INSERT INTO prompt (hash, system, tools, shared, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
    p.hash,
    p.system,
    p.tools,
    p.shared,
    p.at,
  );
}

/** The prompts that quote one of these. */
export async function promptsWith(db: Reads, texts: readonly string[]): Promise<string[]> {
  const hashes = new Set<string>();
  for (const text of texts) {
    const rows = await db.all<{ hash: string }>("SELECT hash FROM prompt WHERE instr(system, ?) > 0", text);
    for (const { hash } of rows) hashes.add(hash);
  }
  return [...hashes];
}

export function deletePrompt(tx: Tx, hash: string): void {
  tx.run("DELETE FROM prompt WHERE hash = ?", hash);
}

export function insertInterim(tx: Tx, i: { session: SessionKey; message: string; turn: TurnId; call: string }): void {
  tx.run(
    "INSERT INTO interim_result (message, call, session, turn) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
    i.message,
    i.call,
    i.session,
    i.turn,
  );
}

export async function sessionsWithInterims(db: Reads): Promise<SessionKey[]> {
  const rows = await db.all<{ session: SessionKey }>(
    "SELECT DISTINCT session FROM interim_result WHERE state = 'open'",
  );
  return rows.map((row) => row.session);
}

export function openInterims(db: Reads, session: SessionKey): Promise<{ message: string; call: string }[]> {
  return db.all("SELECT message, call FROM interim_result WHERE session = ? AND state = 'open'", session);
}

export function markInterimsSeen(tx: Tx, session: SessionKey): void {
  tx.run("UPDATE interim_result SET state = 'seen' WHERE session = ? AND state = 'open'", session);
}

/** `shown`: its message is still in the window; after a reset or an edit it is not. */
export function readInterim(
  db: Reads,
  message: string,
  call: string,
): Promise<{ state: "open" | "seen" | "placed"; content: string; shown: number } | undefined> {
  return db.get(
    `SELECT i.state, m.content, m.seq >= s.context_from AND m.replaced_by IS NULL AS shown
     FROM interim_result i JOIN message m ON m.id = i.message JOIN session s ON s.key = i.session
     WHERE i.message = ? AND i.call = ?`,
    message,
    call,
  );
}

/** The one message that changes after it was written: no model has read it. */
export function placeResult(
  tx: Tx,
  r: { message: string; call: string; content: string; tokens: number; outside: boolean },
): void {
  tx.run(
    "UPDATE message SET content = ?, tokens = ?, outside = CASE WHEN outside = 1 THEN 1 ELSE ? END WHERE id = ?",
    r.content,
    r.tokens,
    r.outside ? 1 : 0,
    r.message,
  );
  tx.run("UPDATE interim_result SET state = 'placed' WHERE message = ? AND call = ?", r.message, r.call);
}

export function deleteInterims(tx: Tx, turn: TurnId): void {
  tx.run("DELETE FROM interim_result WHERE turn = ?", turn);
}

/** A line of another conversation. Always marked as text from outside: nobody can tell who wrote an export. */
export function insertImported(tx: Tx, m: HistoryEntry, tokens: number): void {
  tx.run(
    `INSERT INTO message (session, seq, id, turn, role, content, person, tokens, outside, meta, at, replaced_by, forgotten)
     VALUES (?, (SELECT COALESCE(MAX(seq), 0) + 1 FROM message WHERE session = ?), ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    m.session,
    m.session,
    m.id,
    m.turn,
    m.role,
    JSON.stringify(m.content),
    m.person ?? null,
    tokens,
    m.meta ? JSON.stringify(m.meta) : null,
    m.at,
    m.replacedBy ?? null,
    m.forgotten ? "" : null,
  );
}

export function eraseHistory(tx: Tx, session: SessionKey): void {
  tx.run("DELETE FROM message WHERE session = ?", session);
  tx.run("DELETE FROM compaction WHERE session = ?", session);
}

/** Whether text from outside is in this session's history (I12). */
export async function hasReadOutside(db: Reads, session: SessionKey): Promise<boolean> {
  return (await db.get("SELECT 1 FROM message WHERE session = ? AND outside = 1 LIMIT 1", session)) !== undefined;
}

/** The prompt a session has, and when the session began. */
export async function findPrompt(db: Reads, session: string): Promise<{ system: string; since: number } | undefined> {
  return db.get(
    `SELECT COALESCE(p.system, '') AS system, s.created_at AS since FROM session s
     LEFT JOIN prompt p ON p.hash = s.prompt WHERE s.key = ?`,
    session,
  );
}

/** What was said and done in a turn, as text, oldest first. */
export async function readTurnRecord(db: Reads, turn: TurnId): Promise<string> {
  const rows = await db.all<{ role: string; content: string }>(
    "SELECT role, content FROM message WHERE turn = ? AND role <> 'user' AND forgotten IS NULL ORDER BY session, seq DESC LIMIT 40",
    turn,
  );
  const lines = rows.reverse().flatMap(({ role, content }) =>
    (JSON.parse(content) as { type: string; text?: string; name?: string; input?: Json }[]).flatMap((part) => {
      if (part.type === "tool-call") return [`call ${part.name}: ${JSON.stringify(part.input).slice(0, 500)}`];
      if (part.type === "tool-result") return [`result of ${part.name}: ${(part.text ?? "").slice(-2000)}`];
      return part.type === "text" && part.text ? [`${role}: ${part.text}`] : [];
    }),
  );
  return lines.join("\n");
}
