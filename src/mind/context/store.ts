import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { HistoryEntry, ModelMessage, SessionKey, TurnId } from "../../core/domain/index.ts";

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

/** Appends to the history. The same id again changes nothing, so a repeated step writes the same row. */
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
}

/** The newest messages from `from` on, newest first, at most `limit`. */
export function readWindow(db: Reads, session: SessionKey, from: number, limit: number): Promise<WindowRow[]> {
  return db.all(
    "SELECT seq, id, role, content, tokens, outside FROM message WHERE session = ? AND seq >= ? AND replaced_by IS NULL ORDER BY seq DESC LIMIT ?",
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

export interface SessionContext {
  prompt: string | null;
  model: string | null;
  thinking: string | null;
  context_from: number;
}

export function readSession(db: Reads, session: SessionKey): Promise<SessionContext | undefined> {
  return db.get("SELECT prompt, model, thinking, context_from FROM session WHERE key = ?", session);
}

export function readPrompt(db: Reads, hash: string): Promise<{ system: string; tools: string } | undefined> {
  return db.get("SELECT system, tools FROM prompt WHERE hash = ?", hash);
}

/** Keeps a prompt and gives it to a session that has none yet. */
export function keepPrompt(
  tx: Tx,
  p: { session: SessionKey; hash: string; system: string; tools: string; at: number },
): void {
  tx.run(
    "INSERT INTO prompt (hash, system, tools, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
    p.hash,
    p.system,
    p.tools,
    p.at,
  );
  tx.run("UPDATE session SET prompt = ? WHERE key = ? AND prompt IS NULL", p.hash, p.session);
}

export function tuneSession(tx: Tx, session: SessionKey, set: { model: string | null; thinking: string | null }): void {
  tx.run("UPDATE session SET model = ?, thinking = ? WHERE key = ?", set.model, set.thinking, session);
}

export function moveWindow(tx: Tx, session: SessionKey, from: number): void {
  tx.run("UPDATE session SET context_from = ? WHERE key = ? AND context_from < ?", from, session, from);
}
