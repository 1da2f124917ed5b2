import type { Records } from "../../core/contracts/index.ts";

/** Proves that there is room on the disk again: a write as large as a turn's. Rejects when there is none. */
export async function proveRoom(db: Records, bytes: number): Promise<void> {
  const probe = "x".repeat(bytes);
  await db.write((tx) =>
    tx.run("INSERT INTO meta VALUES ('probe', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", probe),
  );
  await db.write((tx) => tx.run("DELETE FROM meta WHERE key = 'probe'"));
}
