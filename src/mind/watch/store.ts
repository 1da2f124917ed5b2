import type { Reads, Tx } from "../../core/contracts/index.ts";

export interface WatchRow {
  name: string;
  about: string;
  cursor: string | null;
  looked_at: number | null;
  failures: number;
  error: string | null;
}

const COLUMNS = "name, about, cursor, looked_at, failures, error";

export function saveLook(tx: Tx, w: { name: string; about: string; cursor: string; at: number }): void {
  tx.run(
    `INSERT INTO watch (${COLUMNS}) VALUES (?, ?, ?, ?, 0, NULL) ON CONFLICT (name) DO UPDATE SET about = excluded.about,
       cursor = excluded.cursor, looked_at = excluded.looked_at, failures = 0, error = NULL`,
    w.name,
    w.about,
    w.cursor,
    w.at,
  );
}

/** The cursor stays, unless it belongs to something else. */
export function saveFailure(
  tx: Tx,
  w: { name: string; about: string; failures: number; error: string; at: number },
): void {
  tx.run(
    `INSERT INTO watch (${COLUMNS}) VALUES (?, ?, NULL, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET
       cursor = CASE WHEN watch.about = excluded.about THEN watch.cursor END, about = excluded.about, looked_at = excluded.looked_at,
       failures = excluded.failures, error = excluded.error`,
    w.name,
    w.about,
    w.at,
    w.failures,
    w.error,
  );
}

export function dropWatches(tx: Tx, names: readonly string[]): void {
  for (const name of names) tx.run("DELETE FROM watch WHERE name = ?", name);
}

export function readWatch(db: Reads, name: string): Promise<WatchRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM watch WHERE name = ?`, name);
}

export function listWatches(db: Reads): Promise<WatchRow[]> {
  return db.all(`SELECT ${COLUMNS} FROM watch ORDER BY name`);
}

/** After a restore: each begins with what is there at its next look, because what came since the backup was reported. */
export function forgetLooks(tx: Tx): void {
  tx.run("DELETE FROM watch");
}
