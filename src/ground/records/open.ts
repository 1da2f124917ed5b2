/**
 * Opens the home's database: refuses what it does not understand without touching it, applies missing migrations, and
 * takes the next boot epoch.
 */
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { AppError } from "../../core/domain/index.ts";
import { damaged, isDamage } from "./damage.ts";
import { BUSY_MS, type Database, openDatabase } from "./driver.ts";
import { MIGRATIONS } from "./migrations.ts";
import { WriteAheadLog } from "./wal.ts";

/** "Lare" as the application id in the file's header: another program's database is refused. */
const APPLICATION_ID = 0x4c617265;

export interface HomeDatabase {
  writer: Database;
  reader: Database;
  wal: WriteAheadLog;
  epoch: string;
}

export async function openHomeDatabase(file: string): Promise<HomeDatabase> {
  // First, and read-only: a file that isn't ours must not even get a write-ahead log.
  await inspect(file);
  let writer: Database | undefined;
  try {
    writer = await openDatabase(file);
    // secure_delete: what is deleted is overwritten, also in pages that are free then; measured, it costs nothing here.
    // NORMAL: a commit survives a killed process at once, and power loss as soon as wal.ts has synced it; no writer hears of it before.
    writer.exec(`
      PRAGMA busy_timeout = ${BUSY_MS};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA temp_store = MEMORY;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA cache_size = -8000;
      PRAGMA secure_delete = ON;
    `);
    migrate(writer);
    // Before the first turn can run: an older process that still lives fails at its next commit (I11).
    writer.exec("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch'");
  } catch (cause) {
    writer?.close();
    throw unusable(file, cause);
  }
  const epoch = (writer.prepare("SELECT value FROM meta WHERE key = 'epoch'").get() as { value: string }).value;
  // A second connection sees only what is committed, so what people are shown can't be rolled back later.
  const reader = await openDatabase(file, { readOnly: true });
  reader.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA cache_size = -2000`);
  return { writer, reader, wal: new WriteAheadLog(file), epoch };
}

/** Reads only, so that a file that is not ours stays exactly as it is. */
export async function inspect(file: string): Promise<void> {
  const header = readHeader(file);
  if (!header) return;
  // The header is 100 bytes, and its fields below are at the offsets of the file format.
  if (header.length < 100 || header.toString("latin1", 0, 15) !== "SQLite format 3") {
    throw unreadable(file, "no SQLite header");
  }
  judge(file, { application: header.readUInt32BE(68), version: header.readUInt32BE(60), tables: 0 });
  // A kill can leave the truth in the log beside the file; a file without a mark may be a stranger's or one of ours in the making.
  if (header.readUInt32BE(68) !== 0 && !existsSync(`${file}-wal`)) return;
  let seen: { application: number; version: number; tables: number };
  let db: Database | undefined;
  try {
    db = await openDatabase(file, { readOnly: true });
    seen = db
      .prepare(
        `SELECT (SELECT application_id FROM pragma_application_id) AS application,
         (SELECT user_version FROM pragma_user_version) AS version, (SELECT COUNT(*) FROM sqlite_master) AS tables`,
      )
      .get() as typeof seen;
  } catch (cause) {
    throw unusable(file, cause);
  } finally {
    db?.close();
  }
  judge(file, seen);
}

/** By hand: opening it with SQLite would already create files beside it. */
function readHeader(file: string): Buffer | undefined {
  const header = Buffer.alloc(100);
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(file, cause);
  }
  try {
    const read = readSync(fd, header, 0, 100, 0);
    return read === 0 ? undefined : header.subarray(0, read);
  } catch (cause) {
    throw unreadable(file, cause);
  } finally {
    closeSync(fd);
  }
}

function judge(file: string, found: { application: number; version: number; tables: number }): void {
  // A process killed while making the file leaves no mark, but then no table either: they come in one transaction.
  if (found.application !== APPLICATION_ID && (found.application !== 0 || found.tables > 0)) {
    throw unreadable(file, "written by another program");
  }
  if (found.version > MIGRATIONS.length) {
    throw new AppError("DATABASE_NEWER", {
      message: `${file} has schema ${found.version}; this Lares knows schemas up to ${MIGRATIONS.length}.`,
      hint: "Start the newer Lares that wrote it, or choose another home with --home. Nothing was changed.",
      retry: "after-change",
    });
  }
}

/** Full, closed and damaged each need a different fix. */
function unusable(file: string, cause: unknown): AppError {
  if (isDamage(cause)) return damaged(file, cause);
  const said = String(cause);
  if (/disk is full/i.test(said))
    return new AppError("STORAGE_FULL", {
      message: `${file} can't be written: the disk is full.`,
      hint: `Free some space (df -h ${file}), then start Lares again.`,
      retry: "after-change",
      cause,
    });
  if (/readonly database|unable to open|EACCES|EPERM/i.test(said))
    return new AppError("STORAGE_FAILED", {
      message: `You aren't allowed to open or write ${file}, or a file beside it.`,
      hint: `See whose they are: ls -l ${file}*; then start Lares as their owner.`,
      retry: "after-change",
      cause,
    });
  return unreadable(file, cause);
}

/** The last resort, with the driver's own words. */
function unreadable(file: string, cause: unknown): AppError {
  return new AppError("DATABASE_UNREADABLE", {
    message: `${file} cannot be read as a Lares database: ${cause instanceof Error ? cause.message : String(cause)}.`,
    hint: "Put the file aside or restore a copy, or choose another home with --home. Nothing was changed.",
    retry: "after-change",
    cause,
  });
}

/** All missing migrations in one transaction: a crash leaves the old schema or the new one, never a mixture. */
function migrate(db: Database): void {
  const { user_version: have } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  if (have >= MIGRATIONS.length) return;
  db.exec("BEGIN IMMEDIATE");
  for (let n = have; n < MIGRATIONS.length; n++) db.exec(MIGRATIONS[n]!);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`);
  // The header must tell the version without reading the write-ahead log.
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}
