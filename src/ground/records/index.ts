import { chmodSync } from "node:fs";
import type { AppError } from "../../core/domain/index.ts";
import { openHomeDatabase } from "./open.ts";
import { SqliteRecords } from "./sqlite.ts";

export { type HomeLock, lockHome } from "./lock.ts";
export { MIGRATIONS } from "./migrations.ts";
export { SqliteRecords } from "./sqlite.ts";

/** Opens the records of a home. The caller holds the home's lock. */
export async function openRecords(file: string, onFatal: (error: AppError) => void): Promise<SqliteRecords> {
  const parts = await openHomeDatabase(file);
  chmodSync(file, 0o600);
  return new SqliteRecords({ ...parts, onFatal });
}
