/** The runs of the nightly pass. */
import type { Reads, Tx } from "../../../core/contracts/index.ts";
import { defined } from "../../../core/kit/index.ts";

export interface CondensedFacts {
  /** New facts and what each took the place of. */
  made: { id: string; text: string; from: { id: string; text: string }[] }[];
  order: string[];
}

export interface Condensation {
  id: string;
  agent: string;
  at: number;
  model?: string;
  before: string;
  after: string;
  changes: CondensedFacts;
  undoneAt?: number;
}

interface Row {
  id: string;
  agent: string;
  at: number;
  by_model: string | null;
  file_before: string;
  file_after: string | null;
  changes: string;
  undone_at: number | null;
}

export function insertRun(
  tx: Tx,
  run: { id: string; agent: string; at: number; model: string | undefined; before: string; changes: CondensedFacts },
): void {
  tx.run(
    `INSERT INTO memory_condensation (id, agent, at, by_model, file_before, changes) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    run.id,
    run.agent,
    run.at,
    run.model ?? null,
    run.before,
    JSON.stringify(run.changes),
  );
}

export function setAfter(tx: Tx, id: string, text: string): void {
  tx.run("UPDATE memory_condensation SET file_after = ? WHERE id = ?", text, id);
}

export function markUndone(tx: Tx, id: string, at: number): void {
  tx.run("UPDATE memory_condensation SET undone_at = ? WHERE id = ?", at, id);
}

export async function readRun(db: Reads, id: string): Promise<Condensation | undefined> {
  const row = await db.get<Row>("SELECT * FROM memory_condensation WHERE id = ?", id);
  return row && view(row);
}

export async function listRuns(db: Reads, agent: string | undefined, limit: number): Promise<Condensation[]> {
  const rows = await db.all<Row>(
    `SELECT * FROM memory_condensation ${agent === undefined ? "" : "WHERE agent = ?"} ORDER BY at DESC LIMIT ?`,
    ...(agent === undefined ? [] : [agent]),
    limit,
  );
  return rows.map(view);
}

/** Runs that quote a text: an older one cannot be undone without bringing it back. */
export async function runsQuoting(db: Reads, text: string): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    `SELECT id FROM memory_condensation WHERE instr(file_before, ?) > 0 OR instr(COALESCE(file_after, ''), ?) > 0
     OR instr(changes, ?) > 0`,
    text,
    text,
    JSON.stringify(text).slice(1, -1),
  );
  return rows.map((row) => row.id);
}

export function dropRuns(tx: Tx, ids: readonly string[]): void {
  for (const id of ids) tx.run("DELETE FROM memory_condensation WHERE id = ?", id);
}

/** Deletes all but the newest `keep` runs. */
export function pruneRuns(tx: Tx, agent: string, keep: number): void {
  tx.run(
    `DELETE FROM memory_condensation WHERE agent = ? AND id NOT IN
     (SELECT id FROM memory_condensation WHERE agent = ? ORDER BY at DESC LIMIT ?)`,
    agent,
    agent,
    keep,
  );
}

function view(row: Row): Condensation {
  return {
    id: row.id,
    agent: row.agent,
    at: row.at,
    before: row.file_before,
    after: row.file_after ?? row.file_before,
    changes: JSON.parse(row.changes) as CondensedFacts,
    ...defined({ model: row.by_model ?? undefined, undoneAt: row.undone_at ?? undefined }),
  };
}
