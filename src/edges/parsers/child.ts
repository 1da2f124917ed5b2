/**
 * Runs one parser on one piece of somebody else's data, in a separate process. A thread is not enough: a single allocation past a
 * thread's heap limit aborts the whole program, and buffers are not part of that limit at all.
 *
 * PARSER-1: whatever a parser does, the rest of Lares only sees a promise that settles within `mostMs`.
 * PARSER-2: a parser does not outlive Lares, not even when Lares is killed: it ends itself when its stdin closes.
 * PARSER-3: a process reads one input and ends, so that nothing in one file can change how the next one is read.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { CHILD_SOURCE } from "./child-source.ts";

/** What stands between a parser and the machine. */
export interface Walls {
  /** JavaScript values. */
  heapMb: number;
  /** Everything, buffers included. */
  memoryMb: number;
  /** Processor time: on a busy machine a plain file must not fail for being slow. */
  cpuMs: number;
  /** Time by the clock, for a parser that waits or a machine that is too busy. */
  mostMs: number;
}

export interface ParseJob {
  /** Plain JavaScript with a function `parse(input, options)`; see child-source.ts. */
  source: string;
  /** Given to `parse` beside the input. */
  options: Readonly<Record<string, unknown>>;
  input: Uint8Array;
  walls: Walls;
}

/** Runs a job when it is its turn. */
export type Parse = (job: ParseJob, signal?: AbortSignal) => Promise<unknown>;

/** The command under the kernel's memory limit, or undefined where the kernel cannot be asked; the parser then watches itself. */
export type Confine = (argv: [string, ...string[]], memoryMb: number) => [string, ...string[]] | undefined;

/** Why there is no answer. `why` completes a sentence; it may quote the parser, which may quote the file. */
export class ParserFailed extends Error {
  readonly why: string;
  constructor(why: string, cause?: unknown) {
    super(why, { cause });
    this.why = why;
  }
}

const TOO_MUCH_MEMORY = "it needs too much memory";
const TOO_LONG = "it took too long";

/** The longest text of a PDF, with every character written as six bytes. Parsing this much takes about 50 ms. */
const MOST_ANSWER = 12 * 1024 * 1024;
/** How JavaScript says that there was no room, where it does not abort. */
const NO_ROOM = /allocation failed|invalid (typed )?array (buffer )?length|invalid string length|out of memory/i;
const MOST_WHY = 200;

/** What `parse` gave back, not yet checked. Throws ParserFailed, or the reason of `signal`. */
export async function runInChild(job: ParseJob, confine: Confine, signal?: AbortSignal): Promise<unknown> {
  signal?.throwIfAborted();
  const child = start(job, confine);
  let stop = () => {};
  try {
    return await new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(() => reject(new ParserFailed(TOO_LONG)), job.walls.mostMs);
      const abort = () => reject(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      stop = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
      child.once("error", (error) => reject(new ParserFailed("the parser could not be started", error)));
      collect(child, resolve, reject);
    });
  } finally {
    stop();
    child.kill("SIGKILL");
    // Without this a child that the kernel is slow to end would hold its pipes open.
    child.stdin?.destroy();
    child.stdout?.destroy();
  }
}

function start({ source, options, input, walls }: ParseJob, confine: Confine): ChildProcess {
  const { heapMb, memoryMb, cpuMs } = walls;
  // The title is what `ps` shows instead of the program text.
  const node: [string, ...string[]] = [
    process.execPath,
    "--title=lares-parser",
    `--max-old-space-size=${heapMb}`,
    "-e",
    CHILD_SOURCE + source,
  ];
  const confined = confine(node, memoryMb);
  const [program, ...args] = confined ?? node;
  // Node closes every other descriptor of ours on exec. What the parser prints on its way down is of no use to anybody.
  const child = spawn(program, args, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "ignore"] });
  const about = { options, bytes: input.byteLength, cpuMs, ...(confined ? {} : { watchMb: memoryMb }) };
  const head = Buffer.from(JSON.stringify(about));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(head.length);
  // A parser that is gone before it read everything is noticed by its exit.
  child.stdin?.on("error", () => {});
  child.stdin?.write(Buffer.concat([size, head]));
  child.stdin?.write(input);
  return child;
}

/** One line of JSON is the answer; an end without one says what went wrong. */
function collect(child: ChildProcess, resolve: (value: unknown) => void, reject: (error: unknown) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MOST_ANSWER) return reject(new ParserFailed("it has too much text"));
    if (chunk.at(-1) !== 0x0a) return;
    const answer = answerIn(Buffer.concat(chunks).toString("utf8"));
    if ("done" in answer) resolve(answer.done);
    else reject(new ParserFailed(plainly(answer.failed)));
  });
  child.once("close", (_code, by) => reject(new ParserFailed(ending(by))));
}

/** Without room Node aborts, crashes, or is killed by the kernel; the signal depends on where it happened. */
function ending(by: NodeJS.Signals | null): string {
  if (by === "SIGXCPU") return TOO_LONG;
  return by ? TOO_MUCH_MEMORY : "the parser ended";
}

function answerIn(line: string): { done: unknown } | { failed: string } {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && "done" in value) return { done: value.done };
    if (typeof value === "object" && value !== null && "failed" in value) return { failed: String(value.failed) };
  } catch {}
  return { failed: "the parser gave no answer" };
}

function plainly(failed: string): string {
  return NO_ROOM.test(failed) ? TOO_MUCH_MEMORY : failed.replace(/\.$/, "").slice(0, MOST_WHY);
}
