/**
 * Writes lines to a file descriptor without ever holding up the program. Node's own `process.stderr` is synchronous for
 * pipes and files: a reader that stalls (`lares gateway run | less`) would stop every turn.
 *
 * OBSERVE-3: `write` returns at once; memory is bounded; what does not fit is counted and said so when there is room again.
 */
import { write as fsWrite } from "node:fs";

export interface LineSink {
  write(line: string): unknown;
}

/** About ten thousand lines: minutes of a busy gateway. */
const MOST_WAITING = 1_000_000;
/** A shared terminal may be set non-blocking by somebody else; then a full one answers EAGAIN. */
const TRY_AGAIN_MS = 50;

export interface FileSink extends LineSink {
  /** Resolves when everything written so far is out, or cannot get out. */
  flush(): Promise<void>;
  /** What waits and was not handed to the system yet. */
  unwritten(): string;
}

type Write = (fd: number, bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void;

/** `write` is handed in by tests that need a descriptor to stall. */
export function writeLines(
  fd: number,
  write: Write = (f, bytes, done) => fsWrite(f, bytes, 0, bytes.length, null, done),
): FileSink {
  let waiting: string[] = [];
  let size = 0;
  let dropped = 0;
  let busy = false;
  let broken = false;
  let idle: (() => void)[] = [];

  const rest = () => {
    busy = false;
    for (const tell of idle) tell();
    idle = [];
  };
  const next = () => {
    if (broken || (waiting.length === 0 && dropped === 0)) return rest();
    busy = true;
    if (dropped > 0) {
      waiting.push(
        `${JSON.stringify({ level: "warn", room: "observe", what: "log lines dropped", facts: { dropped } })}\n`,
      );
      dropped = 0;
    }
    // Everything that waits goes out in one call.
    const bytes = Buffer.from(waiting.join(""));
    waiting = [];
    size = 0;
    put(bytes);
  };
  const put = (bytes: Buffer) =>
    write(fd, bytes, (error, written) => {
      if (error?.code === "EAGAIN") {
        setTimeout(() => put(bytes), TRY_AGAIN_MS).unref();
      } else if (error) {
        // The reader is gone (EPIPE) or the disk is full: the program goes on, the last lines are still in memory.
        broken = true;
        rest();
      } else if (written < bytes.length) {
        put(bytes.subarray(written));
      } else {
        next();
      }
    });

  return {
    write(line) {
      if (broken) return;
      if (size + line.length > MOST_WAITING) {
        dropped++;
        return;
      }
      waiting.push(line);
      size += line.length;
      if (!busy) next();
    },
    flush: () => (busy ? new Promise((resolve) => idle.push(resolve)) : Promise.resolve()),
    unwritten: () => waiting.join(""),
  };
}
