/**
 * The log: one JSON object a line on stderr and in a file of the home, and the last lines in memory for `logs.tail`.
 *
 * Our own writer and not pino: every line must pass the redactor as a whole and be kept in the ring, which pino would give
 * us as text to take apart again, and its import costs 20 ms of a 300 ms start.
 *
 * OBSERVE-4: logging never throws and never waits.
 * OBSERVE-5: no line leaves, neither to the stream, the file nor the ring, before the redactor has seen it.
 */
import type { JsonObject } from "../../core/domain/index.ts";
import type { Log } from "../../core/kit/index.ts";
import type { LogFile } from "./log-file.ts";
import { createRedactor, REDACTED, type Redactor } from "./redact.ts";
import { type LineSink, writeLines } from "./sink.ts";

export const LEVELS = { debug: 10, info: 20, warn: 30, error: 40 } as const;
export type Level = keyof typeof LEVELS;

export interface LogLine {
  /** Counts up from 1 in this process; `tail` goes on after it. */
  seq: number;
  level: Level;
  /** ISO 8601 in UTC. */
  time: string;
  room: string;
  what: string;
  facts?: JsonObject;
}

export interface LogOptions {
  /** The quietest level that is written; `info` unless said. */
  level?: Level;
  /** The quietest level that is kept for `tail` and `follow`; as `level` unless said. */
  keep?: Level;
  /** stderr unless said, written without blocking. */
  stream?: LineSink;
  /** Lines for eyes instead of JSON. */
  pretty?: boolean;
  /** Only with `pretty`. */
  colour?: boolean;
  room?: string;
  /** Shared with whoever else shows text, such as exports. */
  redactor?: Redactor;
  now?: () => number;
}

export interface Logbook extends Log {
  readonly redactor: Redactor;
  /** The last lines, oldest first. `after`: only those with a greater `seq`; `level`: that one and worse. */
  tail(query?: { limit?: number; after?: number; level?: Level; room?: string }): LogLine[];
  /** Calls back for each new line until taken back. A listener that throws is dropped. */
  follow(listener: (line: LogLine) => void): () => void;
  setLevel(level: Level): void;
  /** From now on every line that is kept also goes to this file, and so do those kept so far. */
  writeTo(file: LogFile): void;
  /** The process is about to end for this reason, which the terminal shows anyway: it and what waits go to the file at once. */
  ending(what: string, error: unknown): void;
  /** Resolves when what was logged is out. For a clean stop; nothing else waits for the log. */
  flush(): Promise<void>;
}

/** Enough to see what led to a failure; about a megabyte. */
const KEPT_LINES = 2_000;
/** A longer text in a fact is cut: the log says what happened, it is not where outputs are stored. */
const LONGEST_TEXT = 2_000;
const MOST_ITEMS = 50;

export function createLog(options: LogOptions = {}): Logbook {
  const redactor = options.redactor ?? createRedactor();
  const stream = options.stream ?? writeLines(2);
  const now = options.now ?? Date.now;
  const ring: LogLine[] = [];
  const listeners = new Set<(line: LogLine) => void>();
  let least: number = LEVELS[options.level ?? "info"];
  const kept: number = LEVELS[options.keep ?? "error"];
  let seq = 0;
  let file: LogFile | undefined;

  const put = (level: Level, room: string, what: string, facts?: JsonObject) => {
    const rank = LEVELS[level];
    if (rank < least && rank < kept) return;
    try {
      const line: LogLine = {
        seq: ++seq,
        level,
        time: new Date(now()).toISOString(),
        room,
        what: clean(what, redactor),
      };
      if (facts !== undefined) line.facts = cleanFacts(facts, redactor) as JsonObject;
      // A ring as a circle over one array: `seq` says where the next one goes.
      ring[(line.seq - 1) % KEPT_LINES] = line;
      if (rank >= least)
        stream.write(options.pretty ? prettyLine(line, options.colour ?? false) : `${jsonLine(line)}\n`);
      file?.write(`${JSON.stringify(line)}\n`);
      for (const listener of listeners) tell(listener, line);
    } catch {
      // A log that cannot be written must not become the failure of what it reports (OBSERVE-4).
    }
  };
  const tell = (listener: (line: LogLine) => void, line: LogLine) => {
    try {
      listener(line);
    } catch {
      listeners.delete(listener);
    }
  };
  const inRoom = (room: string): Log => ({
    debug: (what, facts) => put("debug", room, what, facts),
    info: (what, facts) => put("info", room, what, facts),
    warn: (what, facts) => put("warn", room, what, facts),
    error: (what, facts) => put("error", room, what, facts),
    child: inRoom,
  });

  const tail: Logbook["tail"] = ({ limit = 200, after = 0, level = "debug", room } = {}) => {
    const from = Math.max(seq - KEPT_LINES, after, 0);
    const found: LogLine[] = [];
    for (let at = seq; at > from && found.length < limit; at--) {
      const line = ring[(at - 1) % KEPT_LINES];
      if (line && LEVELS[line.level] >= LEVELS[level] && (room === undefined || line.room === room)) found.push(line);
    }
    return found.reverse();
  };
  return {
    ...inRoom(options.room ?? "lares"),
    redactor,
    tail,
    follow(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    setLevel(level) {
      least = LEVELS[level];
    },
    writeTo(to) {
      for (const line of tail({ limit: KEPT_LINES })) to.write(`${JSON.stringify(line)}\n`);
      file = to;
    },
    ending(what, error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      const time = new Date(now()).toISOString();
      const facts = { error: clean(text, redactor) };
      const line: LogLine = { seq: ++seq, level: "error", time, room: "lares", what: clean(what, redactor), facts };
      file?.finish(`${JSON.stringify(line)}\n`);
    },
    async flush() {
      if ("flush" in stream) await (stream as { flush(): Promise<void> }).flush();
      await file?.flush();
    },
  };
}

function clean(text: string, redactor: Redactor): string {
  // Redacted before it is cut: half a secret is not recognised any more.
  const safe = redactor.redact(String(text));
  return safe.length > LONGEST_TEXT ? `${safe.slice(0, LONGEST_TEXT)}… (${safe.length} characters)` : safe;
}

/** Copies, redacts and bounds. `depth` also ends what is circular against its type. */
function cleanFacts(value: unknown, redactor: Redactor, depth = 0): unknown {
  if (typeof value === "string") return clean(value, redactor);
  if (typeof value === "number" || typeof value === "bigint") {
    const text = String(value);
    return redactor.redact(text) === text && typeof value === "number" ? value : redactor.redact(text);
  }
  if (value instanceof Error) return clean(`${value.name}: ${value.message}`, redactor);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 6) return "…";
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_ITEMS).map((item) => cleanFacts(item, redactor, depth + 1));
    return value.length > MOST_ITEMS ? [...items, `… (${value.length} entries)`] : items;
  }
  const entries = Object.entries(value)
    .slice(0, MOST_ITEMS)
    .map(([key, item]) => {
      const secret =
        redactor.isSecretName(key) && (typeof item === "string" || typeof item === "object") && item !== null;
      return [redactor.redact(key), secret ? REDACTED : cleanFacts(item, redactor, depth + 1)];
    });
  return Object.fromEntries(entries);
}

function jsonLine({ level, time, room, what, facts }: LogLine): string {
  return JSON.stringify({ level, time, room, what, facts });
}

const COLOURS: Readonly<Record<Level, number>> = { debug: 2, info: 32, warn: 33, error: 31 };

function prettyLine({ level, time, room, what, facts }: LogLine, colour: boolean): string {
  const word = level.padEnd(5);
  const shown = colour ? `\u001b[${COLOURS[level]}m${word}\u001b[0m` : word;
  const rest = Object.entries(facts ?? {}).map(
    ([key, value]) => `${key}=${typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)}`,
  );
  return `${time.slice(11, 19)} ${shown} ${room.padEnd(10)} ${plain([what, ...rest].join("  "))}\n`;
}

/** Text from outside must not move the cursor, colour the terminal or forge a second line. */
function plain(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (sign) =>
    JSON.stringify(sign).slice(1, -1).replace(/^.$/, "?"),
  );
}
