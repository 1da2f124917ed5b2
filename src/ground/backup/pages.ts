/**
 * A database as it was at one moment, read page by page while others go on writing it.
 *
 * A read transaction pins the moment. SQLite then keeps two promises: as long as the transaction lasts, the pages that the
 * write-ahead log doesn't have stay as they are in the file, and the log isn't started over unless the file has everything that was
 * in it. So the log's pages as of its last whole commit, and the file for all others, are the database at one moment.
 *
 * PAGES-1: what is read is a state that was committed, never a mixture; nobody waits for it and nothing is written.
 * It runs in a process beside the gateway's. Closing a file drops a process's POSIX locks on it, and those of the gateway's own
 * connection are what keeps others from deleting its log.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { AppError } from "../../core/domain/index.ts";
import { type Database, openDatabase } from "../records/index.ts";

export interface DatabasePages {
  readonly bytes: number;
  readonly pageSize: number;
  /** The schema's number. */
  readonly schema: number;
  /** Whole pages, at most `most` bytes of them, from this byte on. Empty at the end. */
  read(from: number, most: number): Buffer;
  close(): void;
}

const LOG_HEADER = 32;
const FRAME_HEADER = 24;
const MAGIC = 0x377f0682;

export async function openPages(file: string): Promise<DatabasePages> {
  const db = await openDatabase(file, { readOnly: true });
  let main: number | undefined;
  try {
    db.exec("PRAGMA busy_timeout = 5000; BEGIN");
    // Only reading pins the moment.
    const { user_version: schema } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    db.prepare("SELECT COUNT(*) FROM sqlite_master").get();
    main = openSync(file, "r");
    return new PinnedPages(db, main, readLog(`${file}-wal`), schema);
  } catch (error) {
    if (main !== undefined) closeSync(main);
    db.close();
    throw error;
  }
}

class PinnedPages implements DatabasePages {
  readonly bytes: number;
  readonly pageSize: number;
  readonly schema: number;
  private readonly db: Database;
  private readonly main: number;
  private log: WrittenLog | undefined;

  constructor(db: Database, main: number, log: WrittenLog | undefined, schema: number) {
    this.db = db;
    this.main = main;
    this.schema = schema;
    this.log = log;
    const header = this.log ? undefined : readExactly(main, 0, 100);
    this.pageSize = log?.pageSize ?? readPageSize(header!);
    const pages = log?.pages ?? header!.readUInt32BE(28);
    this.bytes = pages * this.pageSize;
  }

  read(from: number, most: number): Buffer {
    const { pageSize, bytes } = this;
    const pages = Math.min(Math.floor(most / pageSize), (bytes - from) / pageSize);
    const out = Buffer.alloc(Math.max(0, pages) * pageSize);
    for (let i = 0; i < pages; i++) this.page(from / pageSize + 1 + i).copy(out, i * pageSize);
    return out;
  }

  close(): void {
    this.db.close();
    closeSync(this.main);
    if (this.log) closeSync(this.log.fd);
    this.log = undefined;
  }

  private page(number: number): Buffer {
    const at = this.log?.frames.get(number);
    if (this.log && at !== undefined) {
      const page = readUpTo(this.log.fd, at + FRAME_HEADER, this.pageSize);
      // Looked at afterwards: a log is started over by writing its header first. Then the file has all that this one had.
      if (readUpTo(this.log.fd, 0, LOG_HEADER).equals(this.log.header)) return page;
      closeSync(this.log.fd);
      this.log = undefined;
    }
    return readExactly(this.main, (number - 1) * this.pageSize, this.pageSize);
  }
}

interface WrittenLog {
  fd: number;
  header: Buffer;
  pageSize: number;
  /** Pages of the database after the last commit. */
  pages: number;
  /** Where the newest committed version of a page is. */
  frames: ReadonlyMap<number, number>;
}

/** Nothing when there is no log, or no whole commit in it: then the file alone is the database. */
function readLog(file: string): WrittenLog | undefined {
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const header = readUpTo(fd, 0, LOG_HEADER);
  const log = header.length === LOG_HEADER && (header.readUInt32BE(0) & ~1) === MAGIC ? scan(fd, header) : undefined;
  // Started over meanwhile: everything that was in it is in the file.
  if (log && readUpTo(fd, 0, LOG_HEADER).equals(header)) return log;
  closeSync(fd);
  return undefined;
}

/** Frame after frame, as SQLite itself does after a crash: up to the last commit before the first frame that doesn't fit. */
function scan(fd: number, header: Buffer): WrittenLog | undefined {
  const pageSize = header.readUInt32BE(8);
  const salts = header.subarray(16, 24);
  const sum = checksums((header.readUInt32BE(0) & 1) === 1);
  let [a, b] = sum(header.subarray(0, 24), 0, 0);
  if (a !== header.readUInt32BE(24) || b !== header.readUInt32BE(28)) return undefined;
  const frames = new Map<number, number>();
  let open = new Map<number, number>();
  let pages = 0;
  // What was written by now has the pinned moment in it. Somebody who writes fast would never let us reach the end.
  const end = fstatSync(fd).size;
  for (let at = LOG_HEADER; at < end; at += FRAME_HEADER + pageSize) {
    const frame = readUpTo(fd, at, FRAME_HEADER + pageSize);
    if (frame.length < FRAME_HEADER + pageSize || !frame.subarray(8, 16).equals(salts)) break;
    [a, b] = sum(frame.subarray(0, 8), a, b);
    [a, b] = sum(frame.subarray(FRAME_HEADER), a, b);
    if (a !== frame.readUInt32BE(16) || b !== frame.readUInt32BE(20)) break;
    open.set(frame.readUInt32BE(0), at);
    const size = frame.readUInt32BE(4);
    if (size === 0) continue;
    pages = size;
    for (const [page, where] of open) frames.set(page, where);
    open = new Map();
  }
  return pages === 0 ? undefined : { fd, header, pageSize, pages, frames };
}

/** The checksum of SQLite's log format, over pairs of 32-bit words in the byte order that the log was made with. */
function checksums(isBigEndian: boolean): (bytes: Buffer, a: number, b: number) => [number, number] {
  return (bytes, first, second) => {
    let [a, b] = [first, second];
    for (let i = 0; i < bytes.length; i += 8) {
      a = (a + b + (isBigEndian ? bytes.readUInt32BE(i) : bytes.readUInt32LE(i))) >>> 0;
      b = (b + a + (isBigEndian ? bytes.readUInt32BE(i + 4) : bytes.readUInt32LE(i + 4))) >>> 0;
    }
    return [a, b];
  };
}

function readPageSize(header: Buffer): number {
  const size = header.readUInt16BE(16);
  // 65,536 doesn't fit in two bytes and is written as 1.
  return size === 1 ? 65_536 : size;
}

function readExactly(fd: number, at: number, length: number): Buffer {
  const bytes = readUpTo(fd, at, length);
  if (bytes.length === length) return bytes;
  throw new AppError("DATABASE_UNREADABLE", {
    message: `The database ends at byte ${at + bytes.length}, in the middle of what it should have.`,
    hint: "See what is wrong with it: lares doctor",
  });
}

function readUpTo(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let got = 0;
  while (got < length) {
    const read = readSync(fd, bytes, got, length - got, at + got);
    if (read === 0) break;
    got += read;
  }
  return bytes.subarray(0, got);
}
