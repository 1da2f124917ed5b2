/**
 * `lares logs`: what Lares says about itself; with -f also what it says from now on, through restarts of the gateway.
 *
 * When no Lares answers, the file in the home is read instead, and that is said.
 *
 * CLI-4: each line is shown once: the socket is open before the past is read, and lines are known by their number.
 */
import { AppError, isObject, type Json, type LiveEvent } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { fileProblem, homeFileProblem } from "../../../ground/config/index.ts";
import { followEvents } from "../chat/events.ts";
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { clockTime, oneLine, type Tone } from "../format.ts";
import type { LogLine as Line } from "../ports.ts";
import { notRunning } from "../unreachable.ts";
import { commonWords } from "../words/common.ts";
import { logWords as words } from "../words/look.ts";

const LEVELS = ["debug", "info", "warn", "error"] as const;
const TONES: Readonly<Record<Line["level"], Tone>> = { debug: "dim", info: "plain", warn: "wait", error: "fail" };
/** The most that logs.tail gives at once. */
const MOST = 2000;
/** A Lares that hangs is when its log is wanted most. */
const ANSWER_MS = 3000;
/** Between two looks at the file. */
const LOOK_MS = 300;

export const logs: Action = async (ctx) => {
  const { out, options } = ctx;
  const limit = options.lines ?? 50;
  if (options.follow) return (await isSilent(ctx)) ? followFile(ctx, limit) : follow(ctx);
  const lines = await tail(ctx, { limit }).catch(async (error: unknown) => {
    if (!isNoAnswer(error) || options.url !== undefined) throw error;
    return fromFile(ctx, limit, error);
  });
  out.items(lines);
  out.say(...(lines.length ? lines.map((line) => shown(ctx, line)) : [words.none]));
  return EXIT.done;
};

async function fromFile(ctx: Context, limit: number, error: unknown): Promise<Line[]> {
  const { level } = ctx.options;
  const stored = await openStored(ctx);
  sayFile(ctx, stored.file, error);
  try {
    return stored.tail({ limit, ...defined({ level }) });
  } catch (cause) {
    throw fileProblem(cause, ctx.home, stored.file) ?? cause;
  }
}

/** In a home that can't be one, an empty log would read as "nothing happened". */
function openStored({ ports, home }: Context) {
  const problem = homeFileProblem(home);
  if (problem) throw problem;
  return ports.readLogs(home);
}

function sayFile({ out }: Context, file: string, error: unknown): void {
  const why = error instanceof AppError ? error.message : commonWords.noAnswerWithin(ANSWER_MS);
  out.note(out.paintNote(words.fromFile(why, file), "dim"));
}

/** Nothing is listening, or it doesn't answer. A refused token is neither. */
function isNoAnswer(error: unknown): boolean {
  return error instanceof AppError ? error.code === "GATEWAY_DOWN" : (error as Error)?.name === "TimeoutError";
}

async function isSilent(ctx: Context): Promise<boolean> {
  if (ctx.options.url !== undefined) return false;
  return tail(ctx, { limit: 1 }).then(() => false, isNoAnswer);
}

/** Goes on with the file, also when a Lares is started meanwhile: it writes there whatever it would say on a socket. */
async function followFile(ctx: Context, limit: number): Promise<number> {
  const { out, options } = ctx;
  const stored = await openStored(ctx);
  sayFile(ctx, stored.file, notRunning());
  const show = (lines: readonly Line[]) => {
    for (const line of lines) {
      if (options.level && LEVELS.indexOf(line.level) < LEVELS.indexOf(options.level)) continue;
      out.items([line]);
      out.say(shown(ctx, line));
    }
  };
  // The end is fixed first, so that no line falls between; what is written meanwhile may be shown twice.
  show(stored.more());
  show(stored.tail({ limit, ...defined({ level: options.level }) }));
  return new Promise((resolve) => {
    const looking = setInterval(() => show(stored.more()), LOOK_MS);
    const leave = () => {
      clearInterval(looking);
      for (const stop of off) stop();
      stored.close();
      resolve(EXIT.interrupted);
    };
    const off = [ctx.onSignal("SIGINT", leave), ctx.onSignal("SIGTERM", leave)];
  });
}

async function follow(ctx: Context): Promise<number> {
  const { out, options, find, clock } = ctx;
  let leave!: () => void;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  let last = 0;
  /** Lines that come while the past is read wait for it. */
  let early: Line[] | undefined = [];
  const show = (line: Line) => {
    if (line.seq <= last) return;
    last = line.seq;
    out.items([line]);
    out.say(shown(ctx, line));
  };
  const catchUp = async (asked: { limit: number; after?: number }) => {
    early ??= [];
    try {
      for (const line of await tail(ctx, asked)) show(line);
    } finally {
      const waiting = early ?? [];
      early = undefined;
      for (const line of waiting) show(line);
    }
  };
  const events = await followEvents({
    find,
    clock,
    onEvent: (event) => {
      if (event.event !== "log") return;
      const line = toLine(event);
      if (options.level && LEVELS.indexOf(line.level) < LEVELS.indexOf(options.level)) return;
      if (early) early.push(line);
      else show(line);
    },
    onOpen: ({ first, restarted }) => {
      if (first) return;
      // A new process counts from the start.
      if (restarted) last = 0;
      out.note(ctx.out.paintNote(restarted ? commonWords.restarted : commonWords.reconnected, "dim"));
      // Lost again while asking: the next time it is open the same is asked.
      catchUp({ limit: MOST, after: last }).catch(() => {});
    },
    onLost: () => out.note(ctx.out.paintNote(words.noConnection, "dim")),
  });
  const off = [ctx.onSignal("SIGINT", leave), ctx.onSignal("SIGTERM", leave)];
  const hold = setInterval(() => {}, 2 ** 30);
  try {
    await catchUp({ limit: options.lines ?? 50 });
    await left;
    return EXIT.interrupted;
  } finally {
    clearInterval(hold);
    for (const stop of off) stop();
    events.close();
  }
}

async function tail({ rpc, options }: Context, asked: { limit: number; after?: number }): Promise<Line[]> {
  const { lines } = await rpc.call("logs.tail", { ...asked, level: options.level }, AbortSignal.timeout(ANSWER_MS));
  return lines;
}

function toLine({ event: _, ...line }: LiveEvent & { event: "log" }): Line {
  return line as Line;
}

function shown({ out }: Context, line: Line): string {
  const level = out.paint(line.level.padEnd(5), TONES[line.level]);
  const facts = line.facts === undefined ? "" : `  ${out.paint(showFacts(line.facts), "dim")}`;
  return `${clockTime(Date.parse(line.time))}  ${level}  ${line.room}  ${oneLine(line.what)}${facts}`;
}

function showFacts(facts: Json): string {
  if (!isObject(facts)) return oneLine(JSON.stringify(facts));
  return Object.entries(facts)
    .map(([key, value]) => `${key}=${oneLine(typeof value === "string" ? value : JSON.stringify(value))}`)
    .join(" ");
}
