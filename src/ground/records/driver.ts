/**
 * The SQLite driver: `node:sqlite` where Node has it, `@photostructure/sqlite` (the same API) on Node 20.
 * Neither compiles nor runs an install script. Everything above this file sees one small interface.
 */
import type { SqlValue } from "../../core/contracts/index.ts";

/** The part of both drivers' API that Lares uses. Anything more would have to be tested on both. */
export interface Statement {
  run(...params: SqlValue[]): { changes: number | bigint };
  get(...params: SqlValue[]): unknown;
  all(...params: SqlValue[]): unknown[];
}

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** How long a connection waits for another one. */
export const BUSY_MS = 5000;

interface Driver {
  DatabaseSync: new (path: string, options?: { readOnly?: boolean }) => Database;
}

// Loaded once and kept: the driver is a native module, and loading it costs more than opening a file.
let loading: Promise<Driver> | undefined;

/** Opens a database file. Loads the driver on first use. */
export async function openDatabase(path: string, options: { readOnly?: boolean } = {}): Promise<Database> {
  loading ??= loadDriver();
  const { DatabaseSync } = await loading;
  return new DatabaseSync(path, options);
}

/** Before 22.13 the built-in one hides behind a flag. */
export function hasBuiltInSqlite(): boolean {
  const [major, minor] = process.versions.node.split(".").map(Number) as [number, number];
  return major > 22 || (major === 22 && minor >= 13);
}

async function loadDriver(): Promise<Driver> {
  if (!hasBuiltInSqlite()) return import("@photostructure/sqlite");
  return withoutExperimentalWarning(async () => {
    // In a variable, so that no bundler tries to resolve it where it doesn't exist.
    const name = "node:sqlite";
    return (await import(name)) as Driver;
  });
}

/** node:sqlite announces itself as experimental on stderr, which would be the first line a new user reads. */
async function withoutExperimentalWarning<T>(run: () => Promise<T>): Promise<T> {
  const emit = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).includes("SQLite is an experimental feature")) return;
    return (emit as (...args: unknown[]) => void).call(process, warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    return await run();
  } finally {
    process.emitWarning = emit;
  }
}
