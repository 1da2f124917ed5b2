/**
 * One process per home. The claim is an exclusive SQLite lock on a separate file, held for the life of the process: the
 * kernel lets go of it when the process dies, however it dies, so a stale lock cannot exist. The owner's pid stands beside
 * it for the message to the second process.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../core/domain/index.ts";
import { type Database, openDatabase } from "./driver.ts";

/** Kept for the life of the process. Releasing it early would let a second Lares write to the same home. */
export interface HomeLock {
  release(): void;
}

export async function lockHome(home: string): Promise<HomeLock> {
  const owner = join(home, "lares.pid");
  let db: Database | undefined;
  try {
    // A separate file: an exclusive lock on the records themselves would also lock out our own connections.
    db = await openDatabase(join(home, "lares.lock"));
    db.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
  } catch (cause) {
    db?.close();
    // A home that can't be written at all is a different problem with its own sentence.
    if (!/locked|busy/i.test(String(cause))) throw cause;
    const pid = readOwner(owner);
    throw new AppError("HOME_LOCKED", {
      message: `Another Lares already runs on ${home}${pid ? ` (pid ${pid})` : ""}.`,
      hint: `Use it (lares status), stop it${pid ? ` (kill ${pid})` : ""}, or choose another home with --home or LARES_HOME.`,
      retry: "after-change",
      details: pid ? { pid: Number(pid) } : {},
      cause,
    });
  }
  // After the lock: the pid in the file is always the owner's, or that of one that died.
  writeFileSync(owner, `${process.pid}\n`, { mode: 0o600 });
  const held = db;
  return {
    release() {
      rmSync(owner, { force: true });
      held.close();
    },
  };
}

/** The pid is only for the message. Without it, the lock holds just the same. */
function readOwner(file: string): string | undefined {
  try {
    return /^\d+/.exec(readFileSync(file, "utf8"))?.[0];
  } catch {
    return undefined;
  }
}
