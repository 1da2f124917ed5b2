import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { AgentId, SessionKey } from "../../core/domain/index.ts";

/** One change of one file. `turn` is a turn's id, or that of an undo. */
export interface CheckpointRow {
  seq: number;
  turn: string;
  call: string;
  path: string;
  agent: AgentId;
  session: SessionKey;
  tool: string;
  before: string;
  mode: number | null;
  after: string | null;
  leaves: string | null;
  note: string | null;
  at: number;
}

export type NewRow = Omit<CheckpointRow, "seq" | "after" | "note">;

export interface UndoRow {
  id: string;
  turn: string;
  by_whom: string;
  at: number;
  ended_at: number | null;
}

const COLUMNS = "seq, turn, call, path, agent, session, tool, before, mode, after, leaves, note, at";

/** Idempotent per call and path, except for what it will leave. */
export function openRow(tx: Tx, r: NewRow): void {
  tx.run(
    `INSERT INTO checkpoint (turn, call, path, agent, session, tool, before, mode, leaves, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (turn, call, path) DO UPDATE SET leaves = excluded.leaves`,
    r.turn,
    r.call,
    r.path,
    r.agent,
    r.session,
    r.tool,
    r.before,
    r.mode,
    r.leaves,
    r.at,
  );
}

export function setBefore(tx: Tx, r: Pick<CheckpointRow, "turn" | "call" | "path" | "before" | "mode">): void {
  tx.run(
    "UPDATE checkpoint SET before = ?, mode = ? WHERE turn = ? AND call = ? AND path = ?",
    r.before,
    r.mode,
    r.turn,
    r.call,
    r.path,
  );
}

export function closeRow(tx: Tx, r: Pick<CheckpointRow, "turn" | "call" | "path">, after: string, note?: string): void {
  tx.run(
    "UPDATE checkpoint SET after = ?, note = ? WHERE turn = ? AND call = ? AND path = ?",
    after,
    note ?? null,
    r.turn,
    r.call,
    r.path,
  );
}

export function dropRow(tx: Tx, r: Pick<CheckpointRow, "turn" | "call" | "path">): void {
  tx.run("DELETE FROM checkpoint WHERE turn = ? AND call = ? AND path = ?", r.turn, r.call, r.path);
}

export function openRows(db: Reads, turn: string, call: string): Promise<CheckpointRow[]> {
  return db.all<CheckpointRow>(
    `SELECT ${COLUMNS} FROM checkpoint WHERE turn = ? AND call = ? AND after IS NULL ORDER BY seq`,
    turn,
    call,
  );
}

/** In the order the changes were made. */
export function listRows(db: Reads, turn: string): Promise<CheckpointRow[]> {
  return db.all<CheckpointRow>(`SELECT ${COLUMNS} FROM checkpoint WHERE turn = ? ORDER BY seq`, turn);
}

export async function lastSeq(db: Reads): Promise<number> {
  return (await db.get<{ n: number | null }>("SELECT MAX(seq) AS n FROM checkpoint"))?.n ?? 0;
}

/** The newest things that changed files: turns, and undos of them. */
export async function listChanged(db: Reads, q: { session?: string; limit: number }): Promise<string[]> {
  const rows = await db.all<{ turn: string }>(
    `SELECT turn FROM checkpoint WHERE (? = '' OR session = ?) GROUP BY turn ORDER BY MAX(seq) DESC LIMIT ?`,
    q.session ?? "",
    q.session ?? "",
    q.limit,
  );
  return rows.map((row) => row.turn);
}

// ---- undos

export function insertUndo(tx: Tx, u: Omit<UndoRow, "ended_at">): void {
  tx.run("INSERT INTO undo (id, turn, by_whom, at) VALUES (?, ?, ?, ?)", u.id, u.turn, u.by_whom, u.at);
}

export function endUndo(tx: Tx, id: string, at: number): void {
  tx.run("UPDATE undo SET ended_at = ? WHERE id = ?", at, id);
}

export function readUndo(db: Reads, id: string): Promise<UndoRow | undefined> {
  return db.get<UndoRow>("SELECT id, turn, by_whom, at, ended_at FROM undo WHERE id = ?", id);
}

/** Newest first. */
export function listUndos(db: Reads, turn: string): Promise<UndoRow[]> {
  return db.all<UndoRow>(
    "SELECT id, turn, by_whom, at, ended_at FROM undo WHERE turn = ? ORDER BY at DESC, id DESC",
    turn,
  );
}

export function openUndos(db: Reads): Promise<UndoRow[]> {
  return db.all<UndoRow>("SELECT id, turn, by_whom, at, ended_at FROM undo WHERE ended_at IS NULL ORDER BY at");
}

// ---- contents

export function knowBlob(tx: Tx, hash: string, bytes: number, at: number): void {
  tx.run(
    "INSERT INTO checkpoint_blob (hash, bytes, at) VALUES (?, ?, ?) ON CONFLICT (hash) DO UPDATE SET at = excluded.at",
    hash,
    bytes,
    at,
  );
}

export async function blobBytes(db: Reads): Promise<number> {
  return (await db.get<{ n: number | null }>("SELECT SUM(bytes) AS n FROM checkpoint_blob"))?.n ?? 0;
}

/** Contents no row speaks of, and that nobody is about to. */
export async function unusedBlobs(db: Reads, before: number): Promise<{ hash: string; bytes: number }[]> {
  return db.all(
    `SELECT hash, bytes FROM checkpoint_blob b
     WHERE at < ? AND NOT EXISTS (SELECT 1 FROM checkpoint c WHERE c.before = b.hash)`,
    before,
  );
}

export function forgetBlob(tx: Tx, hash: string): void {
  tx.run("DELETE FROM checkpoint_blob WHERE hash = ?", hash);
}

export async function knownBlobs(db: Reads): Promise<Set<string>> {
  const rows = await db.all<{ hash: string }>("SELECT hash FROM checkpoint_blob");
  return new Set(rows.map((row) => row.hash));
}

export function dropOlder(tx: Tx, before: number): void {
  tx.run("DELETE FROM checkpoint WHERE at < ?", before);
  tx.run("DELETE FROM undo WHERE at < ? AND ended_at IS NOT NULL", before);
}

/** The oldest turn with rows, and how much goes with it. */
export async function oldest(db: Reads): Promise<string | undefined> {
  return (await db.get<{ turn: string }>("SELECT turn FROM checkpoint ORDER BY seq LIMIT 1"))?.turn;
}

export function dropTurn(tx: Tx, turn: string): void {
  tx.run("DELETE FROM checkpoint WHERE turn = ?", turn);
}
