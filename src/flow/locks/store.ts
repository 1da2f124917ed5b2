import type { Reads, Tx } from "../../core/contracts/index.ts";

/** Who works on it: one tool call of one turn. */
export interface Holder {
  turn: string;
  call: string;
  agent: string;
  tool: string;
}

export interface LockRow extends Holder {
  path: string;
  fence: number;
  since: number;
  epoch: number;
}

/** Writes the locks of one call, and the fencing number they were given with. */
export function insertLocks(tx: Tx, paths: readonly string[], row: Omit<LockRow, "path">): void {
  for (const path of paths) {
    tx.run(
      `INSERT INTO resource_lock (path, fence, turn, call, agent, tool, since, epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path, fence) DO NOTHING`,
      path,
      row.fence,
      row.turn,
      row.call,
      row.agent,
      row.tool,
      row.since,
      row.epoch,
    );
  }
  tx.run("UPDATE resource_fence SET last = ? WHERE one = 1 AND last < ?", row.fence, row.fence);
}

/** Refuses the whole transaction when one of the locks is no longer this one. */
export function mustHold(tx: Tx, paths: readonly string[], fence: number): void {
  for (const path of paths) {
    tx.run(
      `INSERT INTO resource_lost (path)
       SELECT ? WHERE NOT EXISTS (SELECT 1 FROM resource_lock WHERE path = ? AND fence = ?)`,
      path,
      path,
      fence,
    );
  }
}

export function deleteLocks(tx: Tx, paths: readonly string[], fence: number): void {
  for (const path of paths) tx.run("DELETE FROM resource_lock WHERE path = ? AND fence = ?", path, fence);
}

/** Locks from before this epoch, and the newest fencing number. */
export async function readLocks(db: Reads, epoch: number): Promise<{ last: number; left: LockRow[] }> {
  const fence = await db.get<{ last: number }>("SELECT last FROM resource_fence WHERE one = 1");
  const left = await db.all<LockRow>(
    `SELECT path, fence, turn, call, agent, tool, since, epoch FROM resource_lock WHERE epoch < ? ORDER BY path`,
    epoch,
  );
  return { last: fence?.last ?? 0, left };
}

/** After a restore: the calls that held one are gone. */
export function deleteAllLocks(tx: Tx): void {
  tx.run("DELETE FROM resource_lock");
}
