/**
 * What a session holds for the model's view of it: which prompt, which snapshot of memory, where the window begins and which
 * compaction stands for what is older. The context room decides; these write its decisions.
 */
import type { Reads, Tx } from "../../../core/contracts/index.ts";
import type { SessionKey } from "../../../core/domain/index.ts";

/** Gives a prompt to a session that has none yet. */
function keepPrompt(tx: Tx, session: SessionKey, hash: string): void {
  tx.run("UPDATE session SET prompt = ? WHERE key = ? AND prompt IS NULL", hash, session);
}

async function sessionsWithPrompt(db: Reads, hash: string): Promise<SessionKey[]> {
  const rows = await db.all<{ key: SessionKey }>("SELECT key FROM session WHERE prompt = ?", hash);
  return rows.map((row) => row.key);
}

/** Every session that has it gets a new one with its next call. */
function dropPrompt(tx: Tx, hash: string): void {
  tx.run("UPDATE session SET prompt = NULL WHERE prompt = ?", hash);
}

/** The first message of a conversation can be a command, so the session may not be there yet. */
function tune(
  tx: Tx,
  session: { key: SessionKey; agent: string; person: string; at: number },
  set: { model: string | null; thinking: string | null },
): void {
  // Another model has no cache to lose, so its instructions are made again.
  tx.run(
    `INSERT INTO session (key, agent, person, created_at, updated_at, model, thinking) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET prompt = CASE WHEN session.model IS NOT DISTINCT FROM excluded.model THEN session.prompt END,
       model = excluded.model, thinking = excluded.thinking`,
    session.key,
    session.agent,
    session.person,
    session.at,
    session.at,
    set.model,
    set.thinking,
  );
}

/** What the model reads of memory, until the session is reset or compacted. */
function keepSnapshot(tx: Tx, session: SessionKey, text: string): void {
  tx.run("UPDATE session SET snapshot = ? WHERE key = ? AND snapshot IS NULL", text, session);
}

/** Snapshots that hold this text are made again; an empty text means all of them. */
function dropSnapshots(tx: Tx, text: string): void {
  tx.run("UPDATE session SET snapshot = NULL WHERE snapshot IS NOT NULL AND instr(snapshot, ?) > 0", text);
}

export interface Compacting {
  session: SessionKey;
  /** The compaction, and the one it follows. */
  id: string;
  previous: string | null;
  /** Where the window began, and where it begins from now on. */
  base: number;
  to: number;
  snapshot: string | null;
  /** The messages it replaces: this many from here on. One that has been edited since is no longer among them. */
  from: number;
  messages: number;
}

/**
 * Puts a compaction in the place of the older part. Does nothing when the session is no longer as it was when it was read: reset,
 * undone, or compacted by somebody else. So it is idempotent.
 */
function compact(tx: Tx, c: Compacting): void {
  tx.run(
    `UPDATE session SET context_from = ?, compaction = ?, snapshot = ? WHERE key = ? AND context_from = ? AND compaction IS NOT DISTINCT FROM ?
     AND ? = (SELECT COUNT(*) FROM message WHERE session = ? AND seq >= ? AND seq < ? AND replaced_by IS NULL)`,
    ...[c.to, c.id, c.snapshot, c.session, c.base, c.previous],
    ...[c.messages, c.session, c.from, c.to],
  );
}

/** The session is shown as it was before this compaction. */
function undoCompaction(
  tx: Tx,
  c: { session: SessionKey; id: string; previous: string | null; from_seq: number },
): void {
  tx.run(
    "UPDATE session SET context_from = ?, compaction = ? WHERE key = ? AND compaction = ?",
    c.from_seq,
    c.previous,
    c.session,
    c.id,
  );
}

/** Reverts to before the first compaction that contains this message, because the message is withdrawn. */
function uncover(tx: Tx, session: SessionKey, message: string): void {
  tx.run(
    `WITH RECURSIVE chain (previous, from_seq, to_seq) AS (
       SELECT previous, from_seq, to_seq FROM compaction WHERE id = (SELECT compaction FROM session WHERE key = ?)
       UNION ALL
       SELECT c.previous, c.from_seq, c.to_seq FROM compaction c JOIN chain ON c.id = chain.previous
     ), first AS (
       SELECT previous, from_seq FROM chain WHERE to_seq > (SELECT seq FROM message WHERE id = ?) ORDER BY to_seq LIMIT 1
     )
     UPDATE session SET (compaction, context_from) = (SELECT previous, from_seq FROM first)
     WHERE key = ? AND EXISTS (SELECT 1 FROM first)`,
    ...[session, message, session],
  );
}

/** What the context room is given of a session, to write its decisions with. */
export const sessionViews = {
  keepPrompt,
  sessionsWithPrompt,
  dropPrompt,
  tune,
  keepSnapshot,
  dropSnapshots,
  compact,
  undoCompaction,
  uncover,
};
