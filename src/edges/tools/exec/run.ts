/**
 * One command from start to end: its own process group, clean environment, no input, bounded output, bounded time.
 *
 * X2: when this resolves, no process of the run is left, however it ended.
 */
import { execFile, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import type { ToolPlace } from "../../../core/contracts/index.ts";
import type { Limits } from "../sandbox/limits.ts";
import { Capture, type Captured } from "./capture.ts";
import { RUN_TAG } from "./environment.ts";
import { guard } from "./guard.ts";
import { makePipe, turnToStart } from "./pipe.ts";
import { endRun, membersOf } from "./processes.ts";
import { onScript, startOnTerminal } from "./pty.ts";

/** What output may still take to arrive after the last writer is gone. */
const DRAIN_MS = 500;
/** A pipeline's last children may outlive the shell by a moment; they are not left-overs. */
const LINGER_MS = 100;
/** As much of its complaints as is kept where they are told apart. */
const MOST_ERRORS = 4000;
/** What ending a run elsewhere may take. */
const END_MS = 15_000;

export interface Command {
  argv: readonly [string, ...string[]];
  /** The name the program is told it has, when that is not its file's. */
  argv0?: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  key: string;
  timeoutMs: number;
  /** Where the whole of a long output goes. */
  place: Pick<ToolPlace, "workspace" | "spillDir">;
  /** On a terminal of its own. */
  terminal?: boolean;
  /** Errors are not part of the output. */
  apart?: boolean;
  /** What it may use up; without it nothing is watched. */
  limits?: Limits;
  /** Ends the run where our signals do not reach: in a container, on another machine. */
  end?: readonly [string, ...string[]];
}

/** A command that runs. */
export interface Started {
  pid: number | undefined;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** All output was taken. */
  drained: Promise<unknown>;
  /** Takes no more output. */
  close(): void;
}

export interface Ended {
  output: Captured;
  /** The end of what it complained about, when that is kept apart. */
  errors?: string;
  code: number | null;
  signal: NodeJS.Signals | null;
  how: "exited" | "timeout" | "aborted" | "limit";
  /** With `limit`: which one. */
  why?: string;
  /** Processes it left running, which were ended. */
  leftovers: number;
  ms: number;
}

export async function runCommand(command: Command, signal: AbortSignal): Promise<Ended> {
  const capture = new Capture({ place: command.place, key: command.key });
  signal.throwIfAborted();
  const begun = performance.now();
  let errors = Buffer.alloc(0);
  const complain = (chunk: Buffer) => {
    errors = Buffer.concat([errors, chunk]).subarray(-MOST_ERRORS);
  };
  const { pid, exited, drained, close } = await start(command, (chunk) => capture.add(chunk), complain);
  try {
    const run = { key: command.key, ...(pid === undefined ? {} : { leader: pid }) };
    let why: string | undefined;
    const unguard = command.limits
      ? guard(run, command.limits, (excess) => {
          why = excess;
        })
      : () => {};
    const first = await firstOf(exited, command.timeoutMs, signal).finally(unguard);
    const how = why ? "limit" : first;
    const ended = how === "exited" ? await endLeftovers(run) : await endRun(run);
    if (how !== "exited" && command.end) await endElsewhere(command.end, command.env);
    const last = await exited;
    await Promise.race([drained, wait(DRAIN_MS)]);
    const ms = Math.round(performance.now() - begun);
    const apart = command.apart ? { errors: errors.toString("utf8") } : {};
    return {
      output: await capture.end(),
      ...apart,
      ...last,
      how,
      ...(why ? { why } : {}),
      leftovers: how === "exited" ? ended : 0,
      ms,
    };
  } finally {
    close();
  }
}

type Take = (chunk: Buffer) => void;

async function start(command: Command, take: Take, complain: Take): Promise<Started> {
  if (!command.terminal) return startPiped(command, take, complain);
  const started = await startOnTerminal(command, take);
  if (started) return started;
  const { command: scripted, plain } = onScript(command);
  const text = plain(take);
  const piped = await startPiped(scripted, text);
  return { ...piped, drained: piped.drained.then(() => text.end()) };
}

async function startPiped(command: Command, take: Take, complain: Take = take): Promise<Started> {
  const pipe = await makePipe();
  await turnToStart();
  const [program, ...args] = command.argv;
  const child = spawn(program, args, {
    cwd: command.cwd,
    env: { ...command.env, [RUN_TAG]: command.key },
    stdio: ["ignore", pipe?.write ?? "pipe", command.apart ? "pipe" : (pipe?.write ?? "pipe")],
    detached: true,
    ...(command.argv0 === undefined ? {} : { argv0: command.argv0 }),
  });
  if (pipe) closeSync(pipe.write);
  const errors = command.apart ? child.stderr : null;
  const output = pipe ? [pipe.read] : [child.stdout, child.stderr].filter((source) => source !== null);
  const plain = output.filter((source) => source !== errors);
  const sources = errors ? [...plain, errors] : plain;
  const drained = Promise.all(sources.map((source) => drain(source, source === errors ? complain : take)));
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, by) => resolve({ code, signal: by }));
  });
  const close = () => {
    for (const source of sources) source.destroy();
  };
  return { pid: child.pid, exited, drained, close };
}

/** The far side may be gone too; then there is nothing to end. */
async function endElsewhere(
  argv: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const [program, ...args] = argv;
  await promisify(execFile)(program, args, { env: { PATH: env.PATH ?? "/usr/bin:/bin" }, timeout: END_MS }).catch(
    () => {},
  );
}

function drain(source: Readable, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    source.on("data", take);
    source.once("close", resolve);
    source.once("end", resolve);
    source.on("error", () => resolve());
  });
}

async function firstOf(exited: Promise<unknown>, timeoutMs: number, signal: AbortSignal): Promise<Ended["how"]> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  try {
    return await Promise.race([
      exited.then(() => "exited" as const),
      new Promise<"timeout">((resolve) => {
        timer = setTimeout(() => resolve("timeout"), timeoutMs);
      }),
      new Promise<"aborted">((resolve) => {
        onAbort = () => resolve("aborted");
        if (signal.aborted) onAbort();
        else signal.addEventListener("abort", onAbort, { once: true });
      }),
    ]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal.removeEventListener("abort", onAbort);
  }
}

async function endLeftovers(run: { leader?: number; key: string }): Promise<number> {
  if ((await membersOf(run)).length === 0) return 0;
  await wait(LINGER_MS);
  return endRun(run);
}
