/**
 * One command from start to end: its own process group, clean environment, no input, bounded output, bounded time.
 *
 * X2: when this resolves, no process of the run is left, however it ended.
 */
import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { Capture } from "./capture.ts";
import { RUN_TAG } from "./environment.ts";
import { makePipe } from "./pipe.ts";
import { endRun, membersOf } from "./processes.ts";

/** What output may still take to arrive after the last writer is gone. */
const DRAIN_MS = 500;
/** A pipeline's last children may outlive the shell by a moment; they are not left-overs. */
const LINGER_MS = 100;

export interface Command {
  argv: readonly [string, ...string[]];
  /** The name the program is told it has, when that is not its file's. */
  argv0?: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  key: string;
  timeoutMs: number;
  spillDir: string;
}

export interface Ended {
  output: ReturnType<Capture["end"]>;
  code: number | null;
  signal: NodeJS.Signals | null;
  how: "exited" | "timeout" | "aborted";
  /** Processes it left running, which were ended. */
  leftovers: number;
  ms: number;
}

export async function runCommand(command: Command, signal: AbortSignal): Promise<Ended> {
  const capture = new Capture({ dir: command.spillDir, key: command.key });
  signal.throwIfAborted();
  const pipe = await makePipe(command.spillDir);
  const begun = performance.now();
  const [program, ...args] = command.argv;
  const child = spawn(program, args, {
    cwd: command.cwd,
    env: { ...command.env, [RUN_TAG]: command.key },
    stdio: ["ignore", pipe?.write ?? "pipe", pipe?.write ?? "pipe"],
    detached: true,
    ...(command.argv0 === undefined ? {} : { argv0: command.argv0 }),
  });
  if (pipe) closeSync(pipe.write);
  const sources = pipe ? [pipe.read] : [child.stdout, child.stderr].filter((source) => source !== null);
  const drained = Promise.all(sources.map((source) => drain(source, capture)));
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, by) => resolve({ code, signal: by }));
  });
  try {
    const how = await firstOf(exited, command.timeoutMs, signal);
    const run = { key: command.key, ...(child.pid === undefined ? {} : { leader: child.pid }) };
    const ended = how === "exited" ? await endLeftovers(run) : await endRun(run);
    const last = await exited;
    await Promise.race([drained, wait(DRAIN_MS)]);
    const ms = Math.round(performance.now() - begun);
    return { output: capture.end(), ...last, how, leftovers: how === "exited" ? ended : 0, ms };
  } finally {
    for (const source of sources) source.destroy();
  }
}

function drain(source: Readable, capture: Capture): Promise<void> {
  return new Promise((resolve) => {
    source.on("data", (chunk: Buffer) => capture.add(chunk));
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
