/**
 * The log in the home, so that it can be read when Lares is down: `logs/lares.log` and a few older files beside it. Lines go out
 * as they come, through the same writer as stderr, so a killed process loses at most what it said in its last moment.
 *
 * OBSERVE-6: the files together stay within a bound. A full or read-only disk costs log lines and nothing else, and lines are written
 *     again as soon as there is room.
 */
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
  write as writeTo,
} from "node:fs";
import { dirname, join } from "node:path";
import { type FileSink, writeLines } from "./sink.ts";

/** Some weeks of a busy gateway; small enough to open in an editor. */
const MOST_BYTES = 5 * 1_048_576;
/** Between two writes of a busy gateway: hundreds of lines a second must not become as many writes. */
const PAUSE_MS = 100;
/** Files kept besides the one being written. */
const OLDER_FILES = 3;

/** Why there is no log in the home: a sentence, and the way out. */
export interface LogProblem {
  message: string;
  hint: string;
}

export interface LogFile extends FileSink {
  /** Called with the first line that can't be written, and again only after lines could be written in between. */
  onLost(tell: (problem: LogProblem) => void): void;
  /** Writes at once what still waits: the process is about to end. */
  finish(lastLine?: string): void;
}

/** The newest first. */
export function logFiles(home: string): string[] {
  const file = join(home, "logs", "lares.log");
  return [file, ...Array.from({ length: OLDER_FILES }, (_, i) => `${file}.${i + 1}`)];
}

/** Opens with the first line. The caller holds the home's lock: two writers would rotate under each other. */
export function openLogFile(home: string, mostBytes = MOST_BYTES): LogFile {
  const files = logFiles(home);
  const file = files[0]!;
  let fd: number | undefined;
  let size = 0;
  const pace = makePace();
  const loss = watchLoss(home, file);

  const open = (): number => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const opened = openSync(file, "a", 0o600);
    size = fstatSync(opened).size;
    return opened;
  };
  const close = () => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  };
  /** A descriptor with room for this many bytes. */
  const ready = (bytes: number): number => {
    fd ??= open();
    if (size > 0 && size + bytes > mostBytes) {
      close();
      rotate(files);
      fd = open();
    }
    size += bytes;
    return fd;
  };
  const sink = writeLines(-1, (_, bytes, done) => {
    // What can't be written is given up; the next line tries again, since a full disk doesn't stay full.
    const giveUp = (error: unknown) => {
      close();
      loss.failed(error);
      done(null, bytes.length);
    };
    try {
      writeTo(ready(bytes.length), bytes, 0, bytes.length, null, (error, written) => {
        if (error) giveUp(error);
        else {
          loss.ended();
          size -= bytes.length - written;
          pace.pause(() => done(null, written));
        }
      });
    } catch (error) {
      giveUp(error);
    }
  });
  return {
    ...sink,
    onLost: loss.onLost,
    async flush() {
      const all = sink.flush();
      await pace.hurry(all);
    },
    finish(lastLine = "") {
      try {
        const bytes = Buffer.from(sink.unwritten() + lastLine);
        // No rotation here: a write may still be on its way to the open file.
        fd ??= open();
        writeSync(fd, bytes);
      } catch {
        // There is nobody left to tell.
      }
    },
  };
}

/** The first line goes out at once; those of a busy moment share a write. */
function makePace() {
  /** Ends the pause after a write; set while there is one. */
  let goOn: (() => void) | undefined;
  let hurries = false;
  return {
    pause(next: () => void) {
      if (hurries) return next();
      const timer = setTimeout(() => goOn?.(), PAUSE_MS);
      timer.unref();
      goOn = () => {
        goOn = undefined;
        clearTimeout(timer);
        next();
      };
    },
    /** Without pauses until all of this is done. */
    async hurry(all: Promise<void>): Promise<void> {
      hurries = true;
      goOn?.();
      await all;
      hurries = false;
    },
  };
}

/** Tells once that lines are lost, until one was written again. */
function watchLoss(home: string, file: string) {
  let isLost = false;
  let tell: ((problem: LogProblem) => void) | undefined;
  return {
    onLost(listener: (problem: LogProblem) => void) {
      tell = listener;
    },
    failed(error: unknown) {
      const isNews = !isLost;
      isLost = true;
      if (isNews) tell?.(logProblem(home) ?? notWritten(file, error));
    },
    ended() {
      isLost = false;
    },
  };
}

/** What stands in the way of the log. Looks and changes nothing. */
export function logProblem(home: string): LogProblem | undefined {
  const file = logFiles(home)[0]!;
  const folder = dirname(file);
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory();
  try {
    if (isFolder(folder) === false) return inTheWay(`${folder} is a file, not a folder.`, folder);
    if (isFolder(file) === true) return inTheWay(`${file} is a folder, not a file.`, file);
  } catch {
    // The write itself will say why it can't be done.
  }
  return undefined;
}

function inTheWay(what: string, path: string): LogProblem {
  return { message: `There is no log in the home: ${what}`, hint: `Move it away: mv ${path} ${path}.old` };
}

function notWritten(file: string, error: unknown): LogProblem {
  const { code = String(error) } = (error ?? {}) as NodeJS.ErrnoException;
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  const why = isFull ? "the disk is full" : code;
  const hint = isFull ? `Free some space: df -h ${dirname(file)}` : `Check who owns it: ls -ld ${dirname(file)}`;
  return { message: `${file} can't be written: ${why}.`, hint };
}

/** The oldest goes, each takes the next name. A death in between leaves a gap, which readers skip. */
function rotate(files: readonly string[]): void {
  rmSync(files.at(-1)!, { force: true });
  for (let i = files.length - 2; i >= 0; i--) {
    try {
      renameSync(files[i]!, files[i + 1]!);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}
