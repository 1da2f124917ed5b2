/** The table of worktrees. */
import type { Reads, Tx, WorktreeReport } from "../../core/contracts/index.ts";

/**
 * `making`: nothing in it counts yet. `open`: somebody works there. `committed`: its report is known, the folder may still be there.
 * `left`: its files couldn't be committed and stay. `closed`: nothing of it is left but its report.
 */
export type WorktreeState = "making" | "open" | "committed" | "left" | "closed";

export interface WorktreeRow {
  key: string;
  owner: string;
  agent: string;
  /** Its name, in our folder and in the repository. */
  name: string;
  repository: string;
  common_dir: string;
  branch: string;
  /** The branch was there before. */
  continued: number;
  base: string;
  /** Digests of settings and hooks at the beginning, as JSON. */
  settings: string;
  notes: string;
  state: WorktreeState;
  report: string | null;
  at: number;
}

const COLUMNS =
  "key, owner, agent, name, repository, common_dir, branch, continued, base, settings, notes, state, report, at";

export function readTree(db: Reads, key: string): Promise<WorktreeRow | undefined> {
  return db.get<WorktreeRow>(`SELECT ${COLUMNS} FROM worktree WHERE key = ?`, key);
}

/** Those that are not over. */
export function listTrees(db: Reads, of: { owner?: string; name?: string }): Promise<WorktreeRow[]> {
  return db.all<WorktreeRow>(
    `SELECT ${COLUMNS} FROM worktree WHERE state IN ('making', 'open', 'committed') AND owner = COALESCE(?, owner)
     AND name = COALESCE(?, name) ORDER BY at`,
    of.owner ?? null,
    of.name ?? null,
  );
}

const REPLACED = COLUMNS.split(",")
  .map((column) => `${column} = excluded.${column}`)
  .join(", ");

export function putTree(tx: Tx, r: WorktreeRow): void {
  tx.run(
    `INSERT INTO worktree (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET ${REPLACED}`,
    ...[r.key, r.owner, r.agent, r.name, r.repository, r.common_dir, r.branch, r.continued, r.base],
    ...[r.settings, r.notes, r.state, r.report, r.at],
  );
}

export function setState(tx: Tx, key: string, state: WorktreeState, report?: WorktreeReport): void {
  tx.run(
    "UPDATE worktree SET state = ?, report = COALESCE(?, report) WHERE key = ?",
    state,
    report ? JSON.stringify(report) : null,
    key,
  );
}

export function dropTree(tx: Tx, key: string): void {
  tx.run("DELETE FROM worktree WHERE key = ?", key);
}

export function dropOld(tx: Tx, before: number): void {
  tx.run("DELETE FROM worktree WHERE state = 'closed' AND at < ?", before);
}
