import type { Reads, Tx } from "../../core/contracts/index.ts";

export interface ReplayRow {
  principal: string;
  method: string;
  key: string;
  /** Hash of what was asked. */
  params: string;
  result: string;
  at: number;
}

export function readReplay(db: Reads, principal: string, method: string, key: string): Promise<ReplayRow | undefined> {
  return db.get(
    "SELECT principal, method, key, params, result, at FROM replay WHERE principal = ? AND method = ? AND key = ?",
    principal,
    method,
    key,
  );
}

export function insertReplay(tx: Tx, r: ReplayRow): void {
  tx.run(
    `INSERT INTO replay (principal, method, key, params, result, at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (principal, method, key) DO UPDATE SET params = excluded.params, result = excluded.result, at = excluded.at`,
    r.principal,
    r.method,
    r.key,
    r.params,
    r.result,
    r.at,
  );
}

/** Forgets what is too old, and the oldest beyond the bound. */
export function pruneReplays(tx: Tx, before: number, most: number): void {
  tx.run("DELETE FROM replay WHERE at < ?", before);
  tx.run("DELETE FROM replay WHERE at < (SELECT at FROM replay ORDER BY at DESC LIMIT 1 OFFSET ?)", most);
}
