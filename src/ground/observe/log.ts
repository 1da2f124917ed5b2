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
  /** Shared with other code that shows text, such as exports. */
  redactor?: Redactor;
  now?: () => number;
}

export interface LogQuery {
  limit?: number;
  /** Only lines with a greater `seq`. */
  after?: number;
  /** That one and worse. */
  level?: Level;
  room?: string;
}

export interface Logbook extends Log {
  readonly redactor: Redactor;
  /** The last lines, oldest first. */
  tail(query?: LogQuery): LogLine[];
  /** Calls back for each new line; returns a function that stops it. A listener that throws is dropped. */
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
  const book = new Book(options);
  const inRoom = (room: string): Log => ({
    debug: (what, facts) => book.put("debug", room, what, facts),
    info: (what, facts) => book.put("info", room, what, facts),
    warn: (what, facts) => book.put("warn", room, what, facts),
    error: (what, facts) => book.put("error", room, what, facts),
    child: inRoom,
  });
  return {
    ...inRoom(options.room ?? "lares"),
    redactor: book.redactor,
    tail: (query) => book.tail(query),
    follow: (listener) => book.follow(listener),
    setLevel: (level) => book.setLevel(level),
    writeTo: (file) => book.writeTo(file),
    ending: (what, error) => book.ending(what, error),
    flush: () => book.flush(),
  };
}

/** What all rooms write into. */
class Book {
  readonly redactor: Redactor;
  readonly #options: LogOptions;
  readonly #stream: LineSink;
  readonly #now: () => number;
  readonly #ring: LogLine[] = [];
  readonly #listeners = new Set<(line: LogLine) => void>();
  readonly #kept: number;
  #least: number;
  #seq = 0;
  #file: LogFile | undefined;

  constructor(options: LogOptions) {
    this.#options = options;
    this.redactor = options.redactor ?? createRedactor();
    this.#stream = options.stream ?? writeLines(2);
    this.#now = options.now ?? Date.now;
    this.#least = LEVELS[options.level ?? "info"];
    this.#kept = LEVELS[options.keep ?? "error"];
  }

  put(level: Level, room: string, what: string, facts?: JsonObject): void {
    const rank = LEVELS[level];
    if (rank < this.#least && rank < this.#kept) return;
    try {
      const line = this.#line(level, room, what);
      if (facts !== undefined) line.facts = cleanFacts(facts, this.redactor) as JsonObject;
      // A ring as a circle over one array: `seq` says where the next one goes.
      this.#ring[(line.seq - 1) % KEPT_LINES] = line;
      if (rank >= this.#least) this.#stream.write(this.#shown(line));
      this.#file?.write(`${JSON.stringify(line)}\n`);
      for (const listener of this.#listeners) this.#tell(listener, line);
    } catch {
      // A log that cannot be written must not become the failure of what it reports (OBSERVE-4).
    }
  }

  tail({ limit = 200, after = 0, level = "debug", room }: LogQuery = {}): LogLine[] {
    const from = Math.max(this.#seq - KEPT_LINES, after, 0);
    const found: LogLine[] = [];
    for (let at = this.#seq; at > from && found.length < limit; at--) {
      const line = this.#ring[(at - 1) % KEPT_LINES];
      if (line && LEVELS[line.level] >= LEVELS[level] && (room === undefined || line.room === room)) found.push(line);
    }
    return found.reverse();
  }

  follow(listener: (line: LogLine) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  setLevel(level: Level): void {
    this.#least = LEVELS[level];
  }

  writeTo(file: LogFile): void {
    // Where the person who started Lares looks: it goes on, and nothing else would say so.
    file.onLost(({ message, hint }) => this.put("warn", "observe", `${message} ${hint}. Lares goes on without it.`));
    for (const line of this.tail({ limit: KEPT_LINES })) file.write(`${JSON.stringify(line)}\n`);
    this.#file = file;
  }

  ending(what: string, error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const line = { ...this.#line("error", "lares", what), facts: { error: clean(text, this.redactor) } };
    this.#file?.finish(`${JSON.stringify(line)}\n`);
  }

  async flush(): Promise<void> {
    if ("flush" in this.#stream) await (this.#stream as { flush(): Promise<void> }).flush();
    await this.#file?.flush();
  }

  #line(level: Level, room: string, what: string): LogLine {
    const time = new Date(this.#now()).toISOString();
    return { seq: ++this.#seq, level, time, room, what: clean(what, this.redactor) };
  }

  #shown(line: LogLine): string {
    return this.#options.pretty ? prettyLine(line, this.#options.colour ?? false) : `${jsonLine(line)}\n`;
  }

  #tell(listener: (line: LogLine) => void, line: LogLine): void {
    try {
      listener(line);
    } catch {
      this.#listeners.delete(listener);
    }
  }
}

function clean(text: string, redactor: Redactor): string {
  // Redacted before it is cut, because half a secret wouldn't be recognised.
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
