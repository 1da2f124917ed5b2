/**
 * One command from start to end: its own process group, clean environment, no input, bounded output, bounded time. It runs under
 * the supervisor, so that a death of Lares neither ends it nor hides how it ended; `recover.ts` is the other half.
 *
 * EXEC-2: when this resolves, no process of the run is left, however it ended.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import type { ToolPlace } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { defined, inTurn, truthy } from "../../../core/kit/index.ts";
import { keepExcess } from "../process/kept.ts";
import { superviseHere } from "../process/supervisor.ts";
import type { SandboxLimits } from "../sandbox/limits.ts";
import { named } from "../sandbox/named.ts";
import type { CapturedOutput } from "./capture.ts";
import { guard } from "./guard.ts";
import { readRun } from "./output.ts";
import { endRun, findMembers, type Run } from "./processes.ts";
import { onScript, startOnTerminal } from "./pty.ts";

/** Starting a process holds the event loop for milliseconds: a hundred commands at once start one by one. */
const turnToStart = inTurn();
/** What output may still take to arrive after the last writer is gone. */
export const DRAIN_MS = 500;
/** A pipeline's last children may outlive the shell by a moment; they are not left-overs. */
const LINGER_MS = 100;
/** After the last process of a command ended, its supervisor writes how; one that does not is ended, too. */
const WRITE_MS = 2000;
/** What ending a run elsewhere may take. */
const END_MS = 15_000;

export interface Command {
  /** Where its supervisor keeps everything: a fresh folder of ours. */
  dir: string;
  argv: readonly [string, ...string[]];
  /** argv[0], if it differs from the file's name. */
  argv0?: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  key: string;
  timeoutMs: number;
  /** Where the whole of a long output goes. */
  place: Pick<ToolPlace, "workspace" | "spillDir" | "folder">;
  /** On a separate terminal. */
  terminal?: boolean;
  /** Errors are not part of the output. */
  apart?: boolean;
  /** Called once its supervisor runs. */
  onStart?: () => void;
  /** What it may use up; without it nothing is watched. */
  limits?: SandboxLimits;
  /** Ends the run where our signals do not reach: in a container, on another machine. */
  end?: readonly [string, ...string[]];
}

export interface RunExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A command that runs. */
export interface StartedRun {
  /** Of its supervisor. */
  pid: number | undefined;
  exited: Promise<RunExit>;
  /** All output is in the folder. */
  drained: Promise<unknown>;
  /** Listens no more. */
  close(): void;
  /** Makes text for people of what a terminal was sent, where that was not done before it was kept. */
  plain?: (take: Take) => Take & { end(): void };
}

export type Take = (chunk: Buffer) => void;

export interface EndedRun {
  output: CapturedOutput;
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

export async function runCommand(command: Command, signal: AbortSignal): Promise<EndedRun> {
  signal.throwIfAborted();
  const begun = performance.now();
  const { pid, exited, drained, close, plain } = await start(command);
  command.onStart?.();
  try {
    const run: Run = { key: command.key, supervised: true, ...defined({ leader: pid }) };
    let why: string | undefined;
    const unguard = command.limits
      ? guard(run, command.limits, (excess) => {
          why = excess;
          keepExcess(command.dir, excess);
        })
      : () => {};
    const first = await waitForFirst(exited, command.timeoutMs, signal).finally(unguard);
    const how = why ? "limit" : first;
    const ended = how === "exited" ? await endLeftovers(run, drained) : await endAll(run, exited);
    if (how !== "exited" && command.end) await endElsewhere(command.end, command.env);
    const last = await exited;
    await Promise.race([drained, wait(DRAIN_MS)]);
    const ms = Math.round(performance.now() - begun);
    return {
      ...(await readRun(command, plain)),
      ...last,
      how,
      ...truthy({ why }),
      leftovers: how === "exited" ? ended : 0,
      ms,
    };
  } finally {
    close();
  }
}

async function start(command: Command): Promise<StartedRun> {
  if (!command.terminal) return startPiped(command);
  const started = await startOnTerminal(command);
  if (started) return started;
  const scripted = onScript(command);
  return { ...(await startPiped(scripted.command)), plain: scripted.plain };
}

async function startPiped(command: Command): Promise<StartedRun> {
  await turnToStart();
  const { dir, key, env, cwd, apart } = command;
  const argv = named(command.argv, command.argv0);
  const child = superviseHere({ dir, id: key, argv, env, cwd, ...truthy({ apart }) });
  const told = child.stdio[3] as Socket;
  const drained = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const exited = new Promise<RunExit>((resolve, reject) => {
    child.once("error", (error) => reject(notStarted(error)));
    child.once("exit", (_code, by) => resolve(exitIn(dir) ?? { code: null, signal: by }));
    told.once("data", (line: Buffer) => resolve({ code: Number(line.toString()), signal: null }));
    told.on("error", () => {});
  });
  return { pid: child.pid, exited, drained, close: () => told.destroy() };
}

function notStarted(error: Error): AppError {
  const { code } = error as NodeJS.ErrnoException;
  return new AppError("TOOL_INPUT", {
    message: `exec: The command couldn't be started (${code}).`,
    hint: "Check that cwd exists and the program is installed.",
    cause: error,
  });
}

/** What the supervisor wrote, when it has ended. */
export function exitIn(dir: string): RunExit | undefined {
  try {
    const code = /^(\d+)\n$/.exec(readFileSync(`${dir}/status`, "utf8"))?.[1];
    return code === undefined ? undefined : { code: Number(code), signal: null };
  } catch {
    return undefined;
  }
}

/** The far side may be gone too; then there is nothing to end. */
export async function endElsewhere(
  argv: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const [program, ...args] = argv;
  await promisify(execFile)(program, args, { env: { PATH: env.PATH ?? "/usr/bin:/bin" }, timeout: END_MS }).catch(
    () => {},
  );
}

async function waitForFirst(
  exited: Promise<unknown>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<EndedRun["how"]> {
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

/** Ends the command with everything it started. A supervisor that then does not write how it ended is ended as well. */
export async function endAll(run: Run, exited: Promise<unknown>): Promise<number> {
  const ended = await endRun(run);
  const isOver = await Promise.race([exited.then(() => true), wait(WRITE_MS, false)]);
  if (!isOver) await endRun({ ...run, supervised: false });
  return ended;
}

/** `drained`: nothing holds the output open. */
export async function endLeftovers(run: Run, drained: Promise<unknown>): Promise<number> {
  await Promise.race([drained, wait(LINGER_MS)]);
  if ((await findMembers(run)).length === 0) return 0;
  await wait(LINGER_MS);
  return endRun(run);
}
