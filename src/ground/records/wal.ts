/**
 * The write-ahead log, as far as it has to reach the disk. SQLite itself does not wait (`synchronous=NORMAL`), because it could
 * only wait on the main thread; the waiting is done here, in the thread pool, while other turns go on. The bytes that have to be on
 * the disk and the moment a writer hears of them are the same as with `FULL`.
 *
 * A descriptor of our own is safe on this file: closing one drops a process's POSIX locks, but SQLite's locks are on other files.
 */
import { close, closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { syncFolderNow } from "../../core/kit/index.ts";

export class WriteAheadLog {
  private readonly file: string;
  private fd: number | undefined;
  private inFlight = 0;
  private isClosed = false;

  constructor(database: string) {
    this.file = `${database}-wal`;
  }

  /** Resolves when all that was written before the call is on the disk. Rejects when the disk refuses it. */
  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fd = this.open();
      this.inFlight++;
      fdatasync(fd, (error) => {
        this.inFlight--;
        // A descriptor in use must not be closed: its number could belong to another file by then.
        if (this.isClosed && this.inFlight === 0) close(fd, () => {});
        if (error) reject(error);
        else resolve();
      });
    });
  }

  /** The same, before it returns. */
  syncNow(): void {
    fdatasyncSync(this.open());
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.fd !== undefined && this.inFlight === 0) closeSync(this.fd);
  }

  /** SQLite makes the file with its first write and keeps it until the last connection closes. Windows flushes only what may be written. */
  private open(): number {
    if (this.fd === undefined) {
      this.fd = openSync(this.file, "r+");
      // SQLite syncs the folder of a new log with its own first sync, which may come megabytes later. Until then its name could be lost.
      syncFolderNow(dirname(this.file));
    }
    return this.fd;
  }
}
