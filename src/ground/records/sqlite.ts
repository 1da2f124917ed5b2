/**
 * Records on SQLite with group commit. A write is applied at once to the open transaction, so later reads see it; the
 * transaction is committed at the end of the event loop's turn, so everything that happened meanwhile shares one fsync.
 * The fsync runs in the thread pool (wal.ts), one at a time; what is written meanwhile is the next transaction.
 *
 * SQLITE-1: a write's promise resolves only after the COMMIT that contains it has reached the disk, and `committed` shows it no sooner.
 * SQLITE-2: a failed commit is fatal for this object: every waiting write rejects, nothing more is written, `onFatal` is called
 * once.
 * SQLITE-3: each transaction checks the boot epoch first; a process that lost its claim cannot write (I11).
 */
import type { Reads, Records, SqlValue, Tx, WriteHow } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";
import { damaged, isDamage } from "./damage.ts";
import { BUSY_MS, type Database, type Statement } from "./driver.ts";
import type { WriteAheadLog } from "./wal.ts";

/** One transaction, and everybody who waits for its commit. */
class Batch {
  resolve: () => void = () => {};
  reject: (error: unknown) => void = () => {};
  readonly promise = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
  /** The statements it consists of, so that all but a refused write's can be run again. */
  readonly done: { sql: string; params: SqlValue[] }[] = [];
  /**
   * Its commit is due: at the end of the event loop's turn, or when the one before it is on the disk. Until then only lazy writes are in
   * it, and `lazy` commits them.
   */
  isArranged = false;
  lazy: NodeJS.Timeout | undefined;
}

type DurableLog = Pick<WriteAheadLog, "sync" | "syncNow" | "close">;

/** How long a lazy write waits for company. Long enough for a turn with a fast model, too short for anybody to notice. */
const LAZY_MS = 25;

/** A backup of a large database reads its log for some seconds. */
const PURGE_AGAIN_MS = 1000;

/** Statements are few and static; the bound only guards against a caller that builds SQL by hand. */
const MOST_STATEMENTS = 400;

export class SqliteRecords implements Records {
  readonly dialect = "sqlite";
  readonly committed: Reads;
  /** Statements run so far, also those that begin and end transactions. */
  ran = 0;
  private readonly statements: (sql: string) => Statement;
  private batch: Batch | undefined;
  /** Committed, and on its way to the disk. */
  private syncing: Batch | undefined;
  private dead: AppError | undefined;
  private isClosed = false;
  private purging: NodeJS.Timeout | undefined;
  private readonly tx: Tx;
  private readonly writer: Database;
  private readonly reader: Database;
  private readonly wal: DurableLog;
  private readonly epoch: string;
  private readonly onFatal: (error: AppError) => void;
  private readonly storing: (on: boolean) => void;
  private readonly file: string;

  constructor(parts: {
    file?: string;
    writer: Database;
    reader: Database;
    wal: DurableLog;
    epoch: string;
    onFatal: (error: AppError) => void;
    /** Told before and after what waits for the disk. */
    storing?: (on: boolean) => void;
  }) {
    this.file = parts.file ?? "The database";
    this.writer = parts.writer;
    this.reader = parts.reader;
    this.wal = parts.wal;
    this.epoch = parts.epoch;
    this.onFatal = parts.onFatal;
    // Without a watchdog nobody needs to know.
    this.storing = parts.storing ?? (() => {});
    const count = () => void this.ran++;
    this.statements = statementCache(this.writer, count);
    // Statements belong to a connection, so each has its own cache.
    const cached = statementCache(this.reader, count);
    const read = async (sql: string) => {
      // Another commit can't come in between: it waits for the event loop, these promises don't.
      while (this.syncing) await this.syncing.promise.catch(() => {});
      this.mustBeOpen();
      return cached(sql);
    };
    this.tx = {
      dialect: "sqlite",
      run: (sql, ...params) => {
        this.statements(sql).run(...params);
        this.batch?.done.push({ sql, params });
      },
    };
    this.committed = {
      dialect: "sqlite",
      get: async <T>(sql: string, ...params: SqlValue[]) => {
        const statement = await read(sql);
        return this.reading(() => statement.get(...params) as T | undefined);
      },
      all: async <T>(sql: string, ...params: SqlValue[]) => {
        const statement = await read(sql);
        return this.reading(() => statement.all(...params) as T[]);
      },
    };
  }

  write(change: (tx: Tx) => void, how: WriteHow = {}): Promise<void> {
    if (this.dead) return Promise.reject(this.dead);
    let batch: Batch;
    try {
      batch = this.batch ?? this.begin();
    } catch (error) {
      return Promise.reject(this.die(error));
    }
    const before = batch.done.length;
    this.arrange(batch, how.lazy === true);
    try {
      change(this.tx);
    } catch (error) {
      // After a failure of the disk SQLite may have rolled back on its own; what the transaction contains is then unknown.
      if (isStorageFailure(error)) return Promise.reject(this.die(error));
      try {
        this.takeBack(batch, before);
      } catch (failed) {
        return Promise.reject(this.die(failed));
      }
      return Promise.reject(error);
    }
    return batch.promise;
  }

  async get<T>(sql: string, ...params: SqlValue[]): Promise<T | undefined> {
    return this.one<T>(sql, ...params);
  }

  async all<T>(sql: string, ...params: SqlValue[]): Promise<T[]> {
    return this.many<T>(sql, ...params);
  }

  /** Synchronous reads for the embedded engine, which shares the file and the thread. */
  one<T>(sql: string, ...params: SqlValue[]): T | undefined {
    this.mustBeOpen();
    return this.reading(() => this.statements(sql).get(...params) as T | undefined);
  }

  many<T>(sql: string, ...params: SqlValue[]): T[] {
    this.mustBeOpen();
    return this.reading(() => this.statements(sql).all(...params) as T[]);
  }

  /** A damaged page breaks what needs it, with a sentence; everything else goes on. */
  private reading<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw isDamage(error) ? damaged(this.file, error) : error;
    }
  }

  /** Reading after the end throws our own error, not the driver's. */
  private mustBeOpen(): void {
    if (this.isClosed) throw this.dead!;
  }

  /** Commits what is open and closes. After it the file alone is the whole truth, so that a copy of it is a backup. */
  close(): void {
    clearTimeout(this.purging);
    this.commitNow();
    try {
      // The driver on Node 20 lets go of a connection only with its last statement, so closing alone leaves the log behind.
      if (!this.dead) this.writer.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Then the log stays, and the next start reads it.
    }
    this.dead ??= new AppError("NOT_READY", { message: "The database was closed.", retry: "later" });
    this.isClosed = true;
    this.wal.close();
    this.reader.close();
    this.writer.close();
  }

  /**
   * What was deleted leaves the write-ahead log, too. Commits what is open first. While another process reads the log, as a backup does,
   * it can't be emptied: nobody waits for that, it is tried again.
   */
  purge(): void {
    clearTimeout(this.purging);
    this.commitNow();
    if (this.dead) return;
    this.storing(true);
    try {
      this.writer.exec("PRAGMA busy_timeout = 0");
      const { busy } = this.writer.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
      if (busy) this.purging = setTimeout(() => this.purge(), PURGE_AGAIN_MS).unref();
    } finally {
      this.writer.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
      this.storing(false);
    }
  }

  private begin(): Batch {
    this.open();
    const batch = new Batch();
    // Not every write is awaited; a lost commit is reported through onFatal.
    batch.promise.catch(() => {});
    this.batch = batch;
    return batch;
  }

  private open(): void {
    this.statements("BEGIN IMMEDIATE").run();
    const owner = this.statements("SELECT value FROM meta WHERE key = 'epoch'").get() as { value: string };
    // Checked in the transaction: nothing can change between the check and the commit.
    if (String(owner.value) !== this.epoch) {
      throw new AppError("HOME_FENCED", {
        message: "Another process took over this home; this one stops.",
        hint: "Look for a second Lares on the same home: lares status",
      });
    }
  }

  /**
   * A refused write is the caller's own mistake, and only its statements are undone: the transaction is run again without them. That is
   * rare; a savepoint for each write would cost every turn. The same statements in the same order on the same file do the same.
   */
  private takeBack(batch: Batch, upTo: number): void {
    batch.done.length = upTo;
    this.writer.exec("ROLLBACK");
    this.open();
    for (const { sql, params } of batch.done) this.statements(sql).run(...params);
  }

  /** When the batch is committed: at the end of the event loop's turn, or a little later while nobody waits for it. */
  private arrange(batch: Batch, lazy: boolean): void {
    if (batch.isArranged) return;
    if (lazy) {
      batch.lazy ??= setTimeout(() => this.arrange(batch, false), LAZY_MS);
      return;
    }
    clearTimeout(batch.lazy);
    batch.isArranged = true;
    if (!this.syncing) setImmediate(() => this.commit(batch));
  }

  private commit(batch: Batch): void {
    if (batch !== this.batch || !this.store(batch)) return;
    if (batch.done.length === 0) {
      // Nothing was written, and what came before is on the disk.
      batch.resolve();
      return;
    }
    this.syncing = batch;
    this.wal.sync().then(
      () => this.synced(batch),
      (error: unknown) => this.syncing === batch && this.die(error),
    );
  }

  private synced(batch: Batch): void {
    if (this.syncing !== batch) return;
    this.syncing = undefined;
    // Only now: those who awaited the write may act on its being durable (SQLITE-1).
    batch.resolve();
    const next = this.batch;
    if (next?.isArranged) setImmediate(() => this.commit(next));
  }

  /** Commits and waits for the disk. */
  private commitNow(): void {
    const { syncing, batch } = this;
    if (this.dead || (batch && !this.store(batch)) || !(syncing ?? batch)) return;
    this.syncing = undefined;
    try {
      this.wal.syncNow();
    } catch (error) {
      syncing?.reject(this.die(error));
      batch?.reject(this.die(error));
      return;
    }
    syncing?.resolve();
    batch?.resolve();
  }

  /** Writes the batch to the log. Whether that worked. */
  private store(batch: Batch): boolean {
    if (this.dead) return false;
    clearTimeout(batch.lazy);
    this.batch = undefined;
    this.storing(true);
    try {
      this.statements("COMMIT").run();
      return true;
    } catch (error) {
      batch.reject(this.die(error));
      return false;
    } finally {
      this.storing(false);
    }
  }

  private die(cause: unknown): AppError {
    if (this.dead) return this.dead;
    const error = asStorageError(cause, this.file);
    this.dead = error;
    try {
      this.writer.exec("ROLLBACK");
    } catch {
      // SQLite has already rolled back on its own.
    }
    clearTimeout(this.batch?.lazy);
    this.batch?.reject(error);
    this.batch = undefined;
    this.syncing?.reject(error);
    this.syncing = undefined;
    this.onFatal(error);
    return error;
  }
}

/** Each statement that is asked for is run once. */
function statementCache(db: Database, count: () => void): (sql: string) => Statement {
  const known = new Map<string, Statement>();
  return (sql) => {
    count();
    let statement = known.get(sql);
    if (!statement) {
      // Dropping all of them is crude, but it happens only to a caller that builds SQL by hand.
      if (known.size >= MOST_STATEMENTS) known.clear();
      statement = db.prepare(sql);
      known.set(sql, statement);
    }
    return statement;
  };
}

/** Full, I/O, corrupt, read-only, cannot open: the disk's fault, after which the transaction's fate is not ours. */
const STORAGE_CODES = new Set([8, 10, 11, 13, 14, 26]);

function isStorageFailure(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode;
  if (typeof code === "number") return STORAGE_CODES.has(code & 0xff);
  return /disk is full|disk I\/O|malformed|readonly database|unable to open/i.test(String(error));
}

function storageError(cause: unknown, file: string): AppError {
  const { errcode = 0, code } = cause as { errcode?: number; code?: string };
  const full = /disk is full/i.test(String(cause)) || errcode % 256 === 13 || code === "ENOSPC" || code === "EDQUOT";
  return full
    ? new AppError("STORAGE_FULL", {
        message: `The disk is full: nothing more can be stored in ${file}.`,
        hint: "Free some space; Lares goes on by itself.",
        retry: "later",
        cause,
      })
    : new AppError("STORAGE_FAILED", {
        message: `${file} could not be written: ${cause instanceof Error ? cause.message : String(cause)}.`,
        hint: "Check the disk and the permissions of the home, then start Lares again.",
        retry: "after-change",
        cause,
      });
}

/** An error that already has a code and a hint keeps them. */
function asStorageError(cause: unknown, file: string): AppError {
  if (cause instanceof AppError) return cause;
  return isDamage(cause) ? damaged(file, cause) : storageError(cause, file);
}
