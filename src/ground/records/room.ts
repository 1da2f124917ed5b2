/** Whether there is room on the disk again, after it was full. */
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Records } from "../../core/contracts/index.ts";

/** What a turn with a long answer writes, and some more. */
const TURN_BYTES = 131_072;

/** Whether a file of a turn's size fits. Cheaper than opening the records, and it leaves nothing behind. */
export function hasRoom(home: string): boolean {
  const file = join(home, "room.probe");
  try {
    // Random bytes, because a file system that compresses would find room for zeros.
    writeFileSync(file, randomBytes(TURN_BYTES), { mode: 0o600 });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(file, { force: true });
  }
}

/** Proves it with a write as large as a turn's. Rejects when there is none. */
export async function proveRoom(db: Records): Promise<void> {
  const probe = "x".repeat(TURN_BYTES);
  await db.write((tx) =>
    tx.run("INSERT INTO meta VALUES ('probe', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", probe),
  );
  // Deleted again, so that the probe doesn't take the room it has proved.
  await db.write((tx) => tx.run("DELETE FROM meta WHERE key = 'probe'"));
}
