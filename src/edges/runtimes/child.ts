/**
 * A runtime's program: lines in, lines out. Everything it starts carries the run's tag, by which all of it is ended afterwards, children
 * that left its group included (RUNTIME-8).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { defined, LineReader } from "../../core/kit/index.ts";

export interface ChildSpec {
  argv: readonly [string, ...string[]];
  cwd: string;
  /** All of it; nothing is inherited. */
  env: Readonly<Record<string, string>>;
  /** The tag in the environment that marks this run's processes. */
  key: string;
  /** False: it doesn't end when its input does, and is ended at once. */
  endsWithInput: boolean;
  bounds?: ChildBounds;
}

interface ChildBounds {
  /** Bytes of one line. */
  line: number;
  /** Bytes of everything it says. */
  run: number;
}

interface ChildParts {
  /** Ends every process of a run. Resolves when none is left. */
  endRun(run: { key: string; leader?: number }): Promise<unknown>;
}

export interface ChildEars {
  line(line: string): void;
  /** It ended, or has to be ended: `why` in a sentence. Called once. */
  ended(why: string): void;
}

const MB = 1024 * 1024;
/** A tool's output in one message; days of an answer word by word. */
const BOUNDS: ChildBounds = { line: 10 * MB, run: 1024 * MB };
/** Of what it complains, the end is kept. */
const MOST_COMPLAINTS = 8192;
const GOODBYE_MS = 1000;

export class RunChild {
  private readonly spec: ChildSpec;
  private readonly parts: ChildParts;
  private child: ChildProcess | undefined;
  private complaints = "";
  private ending: Promise<void> | undefined;

  constructor(spec: ChildSpec, parts: ChildParts) {
    this.spec = spec;
    this.parts = parts;
  }

  /** Rejects when it can't be started. */
  async start(ears: ChildEars): Promise<void> {
    const { argv, cwd, env, bounds = BOUNDS } = this.spec;
    const [program, ...args] = argv;
    // A separate group, so that a Ctrl-C meant for Lares doesn't reach it.
    const child = spawn(program, args, { cwd, env: { ...env }, stdio: ["pipe", "pipe", "pipe"], detached: true });
    this.child = child;
    let bytes = 0;
    let isOver = false;
    const end = (why: string) => {
      if (!isOver && !this.ending) ears.ended(why);
      isOver = true;
    };
    const lines = new LineReader((line) => {
      if (this.ending || isOver) return;
      if (line === undefined) end(`It sent a line of more than ${sayBytes(bounds.line)}.`);
      else ears.line(line);
    }, bounds.line);
    child.stdin!.on("error", () => {
      // It ended while we wrote; `exit` says so.
    });
    child.stdout!.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > bounds.run) end(`It sent more than ${sayBytes(bounds.run)} in one run.`);
      else lines.feed(piece);
    });
    child.stderr!.on("data", (piece: Buffer) => {
      this.complaints = (this.complaints + piece.toString("utf8")).slice(-MOST_COMPLAINTS);
    });
    // Not `exit`: what it said last may still be in the pipe.
    child.once("close", () => {
      lines.end();
      end(this.explain());
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
  }

  write(text: string): void {
    if (this.child?.stdin?.writable) this.child.stdin.write(text);
  }

  /** Nothing more is said to it. */
  closeInput(): void {
    this.child?.stdin?.end();
  }

  /** Stops reading until `resume`: what it says meanwhile stays in the pipe, and in the end the program waits. */
  pause(): void {
    this.child?.stdout?.pause();
  }

  resume(): void {
    this.child?.stdout?.resume();
  }

  /** Resolves when nothing of it is left. Idempotent: the first call says how. `at-once`: what it is doing isn't waited for. */
  end(how: "with-input" | "at-once" = "with-input"): Promise<void> {
    this.ending ??= this.endAll(how);
    return this.ending;
  }

  private async endAll(how: "with-input" | "at-once"): Promise<void> {
    const { child } = this;
    if (!child) return;
    child.stdin?.end();
    const isWaiting = how === "with-input" && this.spec.endsWithInput;
    if (isWaiting && child.exitCode === null && child.signalCode === null) await exited(child);
    const { pid } = child;
    await this.parts.endRun({ key: this.spec.key, ...defined({ leader: pid }) });
    child.stdout?.destroy();
    child.stderr?.destroy();
  }

  private explain(): string {
    const last = this.complaints.trim().split("\n").at(-1)?.trim();
    return last ? `It ended by itself: ${last}` : "It ended by itself.";
  }
}

function sayBytes(bytes: number): string {
  return bytes >= MB ? `${Math.round(bytes / MB)} MB` : `${Math.round(bytes / 1024)} kB`;
}

function exited(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, GOODBYE_MS);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
