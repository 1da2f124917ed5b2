/**
 * A server that is a program on this machine: one JSON message a line, in and out. The SDK's own transport leaves programs behind
 * (no process group, children that hold the pipes), so this one ends a server the way every other command is ended: by its tag.
 *
 * MCP-5: after `close` no process of the server is left, whatever it started and however it was started.
 * MCP-6: what it prints is bounded: a line that is too long, a flood of lines or only garbage ends the connection; complaints are kept
 *     in a ring, never in our log.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { defined, parseJson } from "../../../../core/kit/index.ts";
import { RUN_TAG } from "../../exec/environment.ts";
import { endRun } from "../../exec/processes.ts";
import type { Wrapped } from "../../sandbox/port.ts";
import { MessageAllowance, MOST_AT_ONCE } from "./allowance.ts";
import { type ProgramBounds, watchBounds } from "./bounds.ts";
import { TextRing } from "./ring.ts";

/** As much as an answer with a large picture needs. */
const LONGEST_LINE = 10 * 1024 * 1024;
/** Bytes we hold for a program that doesn't read. */
const MOST_UNREAD = 16 * 1024 * 1024;
/** Output without a single message in it. Banners and stray log lines stay far below. */
const MOST_GARBAGE = 4 * 1024 * 1024;
/** A server that obeys the specification ends by itself when its input does. */
const GOODBYE_MS = 500;
const NEWLINE = 0x0a;

export interface StdioStart {
  wrapped: Wrapped;
  cwd: string;
  /** The tag that all its processes carry. */
  key: string;
  /** What it and all it starts may use together. */
  bounds?: ProgramBounds;
  /** Called when nothing of it is left. */
  ended?: () => void;
  /** What the sandbox doesn't show of it, and the way out: said when it doesn't start. */
  hides?: string;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** What it complained about last. */
  readonly complaints = new TextRing();
  /** Why Lares ended it; undefined when it ended by itself. */
  #endedFor: string | undefined;
  #child: ChildProcess | undefined;
  #pieces: Buffer[] = [];
  #held = 0;
  readonly #allowance = new MessageAllowance();
  #garbage = 0;
  #closing: Promise<void> | undefined;
  /** It was still running when somebody closed it: how it ended then says nothing about it. */
  #wasEnded = false;
  #unwatch: () => void = () => {};

  readonly #given: StdioStart;

  constructor(given: StdioStart) {
    this.#given = given;
  }

  async start(): Promise<void> {
    const { wrapped, cwd, key } = this.#given;
    const [program, ...args] = wrapped.argv;
    const child = spawn(program, args, {
      cwd,
      env: { ...wrapped.env, [RUN_TAG]: key },
      stdio: ["pipe", "pipe", "pipe"],
      // A separate group, so that a Ctrl-C meant for Lares doesn't reach it first.
      detached: true,
      ...defined({ argv0: wrapped.argv0 }),
    });
    this.#child = child;
    child.stdin!.on("error", () => {
      // It ended while we wrote; `exit` tells.
    });
    child.stdout!.on("data", (piece: Buffer) => this.#take(piece));
    child.stderr!.on("data", (piece: Buffer) => this.complaints.add(piece));
    child.once("exit", () => void this.close());
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    const { bounds } = this.#given;
    if (bounds && !this.#closing)
      this.#unwatch = watchBounds({ key, ...defined({ leader: child.pid }) }, bounds, (why) =>
        this.#fail(new Error(why)),
      );
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (!input?.writable) throw new Error("the server has ended");
    if (input.writableLength > MOST_UNREAD) {
      this.#fail(new Error(`it hasn't read ${MOST_UNREAD / 1024 / 1024} MB that were sent to it`));
      throw new Error("the server doesn't read what it is sent");
    }
    input.write(`${JSON.stringify(message)}\n`);
  }

  get hides(): string | undefined {
    return this.#given.hides;
  }

  /** Resolves when nothing of it is left. */
  close(): Promise<void> {
    if (!this.#closing && this.#child) this.#wasEnded = isRunning(this.#child);
    this.#closing ??= this.#end().finally(() => {
      this.#given.ended?.();
      this.onclose?.();
    });
    return this.#closing;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How it ended, if nobody closed it. `isContained`: Lares ended it, because of what it did. */
  ending(): { why: string; isContained: boolean } | undefined {
    if (this.#endedFor !== undefined) return { why: `${this.#endedFor}, so Lares ended it`, isContained: true };
    if (this.#wasEnded) return undefined;
    const { exitCode, signalCode } = this.#child ?? {};
    if (typeof signalCode === "string") return { why: `it was ended by ${signalCode}`, isContained: false };
    if (typeof exitCode !== "number") return undefined;
    return { why: `it ended by itself, with exit code ${exitCode}`, isContained: false };
  }

  async #end(): Promise<void> {
    this.#unwatch();
    const child = this.#child;
    if (!child) return;
    child.stdin?.end();
    if (isRunning(child)) await exited(child, GOODBYE_MS);
    const { pid } = child;
    await endRun({ key: this.#given.key, ...defined({ leader: pid }) });
    child.stdout?.destroy();
    child.stderr?.destroy();
  }

  #take(piece: Buffer): void {
    // What a program still prints while it is being ended isn't read.
    if (this.#closing) return;
    let from = 0;
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, from)) {
      this.#hold(piece.subarray(from, at));
      from = at + 1;
      const line = Buffer.concat(this.#pieces).toString("utf8").trim();
      this.#pieces = [];
      this.#held = 0;
      if (line !== "") this.#read(line);
      if (this.#floods()) return;
    }
    if (from < piece.length) this.#hold(piece.subarray(from));
    if (this.#held > LONGEST_LINE) {
      this.#pieces = [];
      this.#held = 0;
      this.#fail(new Error(`it sent a line of more than ${LONGEST_LINE / 1024 / 1024} MB`));
    }
  }

  #floods(): boolean {
    if (!this.#allowance.take(1)) this.#fail(new Error(`it sent more than ${MOST_AT_ONCE} lines at once`));
    else if (this.#garbage > MOST_GARBAGE) {
      this.#fail(new Error(`it sent ${MOST_GARBAGE / 1024 / 1024} MB without a message in them`));
    }
    return this.#closing !== undefined;
  }

  #hold(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#held += piece.length;
  }

  /** Programs greet on their output although they must not: what isn't a message counts as a complaint. */
  #read(line: string): void {
    let message: unknown;
    try {
      message = line.startsWith("{") ? parseJson(line) : undefined;
    } catch {
      message = undefined;
    }
    if (isMessage(message)) {
      this.#garbage = 0;
      this.onmessage?.(message);
      return;
    }
    this.#garbage += line.length;
    this.complaints.add(Buffer.from(`${line.slice(0, 1000)}\n`));
  }

  #fail(error: Error): void {
    if (this.#endedFor === undefined) {
      this.#endedFor = error.message;
      // Also for people who look at what the program wrote last.
      this.complaints.add(Buffer.from(`\n[Lares] ${error.message}, so Lares ended it\n`));
    }
    this.onerror?.(error);
    void this.close();
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

function exited(child: ChildProcess, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, withinMs);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
