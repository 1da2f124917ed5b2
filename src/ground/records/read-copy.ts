/** Reads somebody else's SQLite file from a copy: opening the original, even to read, would leave files beside it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyBelow, kindBelow } from "../../core/files/index.ts";
import { openDatabase } from "./driver.ts";

/** Years of conversations; the copy goes to the temporary folder. */
const MOST_BYTES = 1024 * 1024 * 1024;

type Ask = (sql: string) => Record<string, unknown>[];

/** `file` is below `root`. The copy is gone when it resolves. */
export async function readCopy<T>(root: string, file: string, look: (ask: Ask) => T): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), "lares-import-"));
  try {
    const copy = join(dir, "copy.db");
    await copyBelow({ root, path: file, to: copy, most: MOST_BYTES });
    const wal = `${file}-wal`;
    if ((await kindBelow({ root, path: wal })) === "file")
      await copyBelow({ root, path: wal, to: `${copy}-wal`, most: MOST_BYTES });
    const db = await openDatabase(copy);
    try {
      return look((sql) => db.prepare(sql).all() as Record<string, unknown>[]);
    } finally {
      db.close();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
