import { chmodSync, closeSync, openSync } from "node:fs";
import type { AppError } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import { openHomeDatabase } from "./open.ts";
import { SqliteRecords } from "./sqlite.ts";

export { type Database, openDatabase } from "./driver.ts";
export { readEpoch } from "./epoch.ts";
export { examineDatabase } from "./examine.ts";
export { type HomeLock, lockHome } from "./lock.ts";
export { MIGRATIONS } from "./migrations.ts";
export { readCopy } from "./read-copy.ts";
export { hasRoom, proveRoom } from "./room.ts";
export { SqliteRecords } from "./sqlite.ts";

/** Opens the records of a home. The caller holds the home's lock. `storing` is called before and after each commit. */
export async function openRecords(
  file: string,
  onFatal: (error: AppError) => void,
  storing?: (on: boolean) => void,
): Promise<SqliteRecords> {
  // Made here, before SQLite makes it: the log beside it, which holds the same words, takes over its mode.
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
  const parts = await openHomeDatabase(file);
  return new SqliteRecords({ file, ...parts, onFatal, ...defined({ storing }) });
}
