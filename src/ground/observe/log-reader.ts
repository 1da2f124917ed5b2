/** Reads the log's files in a home, for when nobody is there to be asked. Lines that were cut off by a death are left out. */
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { LEVELS, type Level, type LogLine } from "./log.ts";
import { logFiles } from "./log-file.ts";

export interface StoredLog {
  /** The file that is being written. */
  readonly file: string;
  /** The newest lines, oldest first. */
  tail(query: { limit: number; level?: Level }): LogLine[];
  /** What was written since the last call; the first call begins at the end. Goes on in the next file when they rotate. */
  more(): LogLine[];
  close(): void;
}

/** What is read of a file that grew a lot between two calls, at a time. */
const CHUNK_BYTES = 1_048_576;

export function readLogs(home: string): StoredLog {
  const files = logFiles(home);
  const file = files[0]!;
  let open: { fd: number; at: number; rest: string } | undefined;
  const openNow = (at: "start" | "end") => {
    try {
      const fd = openSync(file, "r");
      open = { fd, at: at === "end" ? fstatSync(fd).size : 0, rest: "" };
    } catch {
      open = undefined;
    }
  };
  const drain = (): LogLine[] => {
    const found: LogLine[] = [];
    for (let read = CHUNK_BYTES; open && read === CHUNK_BYTES; ) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      read = readSync(open.fd, chunk, 0, CHUNK_BYTES, open.at);
      open.at += read;
      const lines = (open.rest + chunk.toString("utf8", 0, read)).split("\n");
      open.rest = lines.pop() ?? "";
      found.push(...lines.flatMap(parsed));
    }
    return found;
  };
  let isFirst = true;
  return {
    file,
    tail({ limit, level = "debug" }) {
      const found: LogLine[][] = [];
      let count = 0;
      for (const name of files) {
        if (count >= limit) break;
        const lines = readLines(name).filter((line) => LEVELS[line.level] >= LEVELS[level]);
        found.unshift(lines);
        count += lines.length;
      }
      return found.flat().slice(-limit);
    },
    more() {
      if (isFirst) openNow("end");
      else if (!open) openNow("start");
      isFirst = false;
      const found = drain();
      if (!open || isSame(open.fd, file)) return found;
      closeSync(open.fd);
      openNow("start");
      return [...found, ...drain()];
    },
    close() {
      if (open) closeSync(open.fd);
      open = undefined;
    },
  };
}

function isSame(fd: number, file: string): boolean {
  try {
    return statSync(file).ino === fstatSync(fd).ino;
  } catch {
    // Between two names; the next call finds it.
    return true;
  }
}

function readLines(file: string): LogLine[] {
  try {
    return readFileSync(file, "utf8").split("\n").flatMap(parsed);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

function parsed(text: string): LogLine[] {
  try {
    const line = JSON.parse(text) as Partial<LogLine>;
    const isLine =
      typeof line.seq === "number" &&
      typeof line.level === "string" &&
      line.level in LEVELS &&
      [line.time, line.room, line.what].every((field) => typeof field === "string");
    return isLine ? [line as LogLine] : [];
  } catch {
    return [];
  }
}
