/**
 * Background processes. Each is a row, a folder and a supervisor that outlives Lares; nothing of it is kept in memory alone.
 *
 * PROCESS-3: the same call is the same process, also after a crash between meaning it and starting it.
 * PROCESS-4: each end is reported once: the message has the process's id as its key and is admitted before the row says so.
 * PROCESS-5: no signal goes to a process that is not ours: a pid counts together with its start time, everything else by its tag.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import type { Probed, Records, ToolCaller } from "../../../core/contracts/index.ts";
import { AppError, type ReplyRoute } from "../../../core/domain/index.ts";
import { type Clock, type IdMaker, type Log, quotedName, truthy } from "../../../core/kit/index.ts";
import { guard } from "../exec/guard.ts";
import { endRun } from "../exec/processes.ts";
import type { SandboxLimits } from "../sandbox/limits.ts";
import { readIdentity } from "./identity.ts";
import { keepExcess, keepLimits, keptExcess, keptLimits } from "./kept.ts";
import { readOutput, type Stretch } from "./output.ts";
import {
  countRunning,
  deleteProcess,
  endedBefore,
  findProcess,
  insertProcess,
  markEnded,
  markRunning,
  markTold,
  openProcesses,
  type ProcessRow,
  type ProcessState,
  processByKey,
  processesIn,
} from "./store.ts";
import { claim, readPid, readStatus, supervise } from "./supervisor.ts";
import { END_UNKNOWN, endBody, endedForLimit, endLabel, exitAndTime, lastOutput, PRINTED_NOTHING } from "./words.ts";

/** Between two looks at processes whose end nobody will tell us: those started before the last restart. */
const LOOK_MS = 500;
/** What the last output may take to reach the file after the command ended. */
const DRAIN_MS = 500;
/** After a polite end and a hard one the supervisor needs this long to write what happened. */
const KILL_MS = 3000;
/** Between creating its file and writing its number into it, on a busy machine. */
const BEGIN_MS = 2000;
const MOST_AT_ONCE = 16;
/** Rows and outputs of processes that ended longer ago are cleared away. */
const KEPT_MS = 7 * 86_400_000;
/** Of the output, in the message that tells of the end. */
const TOLD_BYTES = 2000;
const PATIENCE_MS = 10_000;

export interface ProcessExit {
  id: string;
  agent: string;
  session: string;
  route: ReplyRoute;
  /** One line in our words. */
  label: string;
  /** The command and the end of what it said. */
  body: string;
}

export interface ProcessesParts {
  records: Records;
  clock: Clock;
  ids: IdMaker;
  log: Log;
  /** A folder of Lares' own; each process gets one inside. */
  dir: string;
  /** Wakes the session. Durable when it resolves; idempotent per id. */
  tell(exit: ProcessExit): Promise<void>;
  /** Of each of the two output files. */
  limit?: number;
}

export interface Start {
  key: string;
  /** As a person reads it. */
  command: string;
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  cwd: string;
  caller: ToolCaller;
  /** Ends it where our signals do not reach. */
  stop?: readonly string[];
  /** What it may use up. */
  limits?: SandboxLimits;
}

export interface SeenProcess {
  id: string;
  command: string;
  state: ProcessState;
  exit: number | null;
  pid: number | null;
  madeAt: number;
  endedAt: number | null;
  /** The limit it was ended for. */
  excess?: string;
}

/** Two seconds in all: a shell on a busy machine takes that long to begin. */
const INPUT_TRIES = 100;
const INPUT_WAIT_MS = 20;

export class Processes {
  private readonly parts: ProcessesParts;
  private readonly open = new Set<string>();
  private readonly busy = new Map<string, Promise<void>>();
  private readonly guards = new Map<string, () => void>();
  private cancelLook: (() => void) | undefined;
  private stopped = false;

  constructor(parts: ProcessesParts) {
    this.parts = parts;
  }

  /** A name for what will be started: sandboxes want it before. */
  name(): string {
    return this.parts.ids.next("p");
  }

  /** Starts it under `id`, or gives the one this call started before. */
  async start(id: string, given: Start): Promise<SeenProcess> {
    const { records, clock } = this.parts;
    const known = await this.known(given.key);
    if (known) return known;
    const { caller } = given;
    if ((await countRunning(records, caller.agent)) >= MOST_AT_ONCE) {
      throw new AppError("TOOL_INPUT", {
        message: `You already have ${MOST_AT_ONCE} background commands running.`,
        hint: 'Stop one with process {"action":"kill"}, or wait until one ends.',
      });
    }
    const row: ProcessRow = {
      id,
      key: given.key,
      session: caller.session,
      agent: caller.agent,
      route: JSON.stringify(caller.route),
      command: given.command,
      pid: null,
      started: null,
      stop: given.stop ? JSON.stringify(given.stop) : null,
      state: "starting",
      exit: null,
      told: 0,
      made_at: clock.now(),
      ended_at: null,
    };
    await records.write((tx) => insertProcess(tx, row));
    const { argv, env, cwd, limits } = given;
    const { limit } = this.parts;
    if (limits) keepLimits(this.processDir(id), limits);
    this.guard(id);
    let pid: number;
    try {
      pid = await supervise({ dir: this.processDir(id), id, argv, env, cwd, ...truthy({ limit }) }, () => {
        this.unguard(id);
        void this.check(id);
      });
    } catch (error) {
      this.unguard(id);
      await records.write((tx) => deleteProcess(tx, id));
      throw error;
    }
    const started = (await readIdentity(pid)) ?? null;
    await records.write((tx) => markRunning(tx, id, pid, started));
    this.watch(id);
    return this.seen({ ...row, pid, started, state: "running" });
  }

  /** The outcome of the call with this key, after a crash. */
  async became(key: string, { sameBoot }: { sameBoot: boolean }): Promise<Probed<SeenProcess>> {
    const { records } = this.parts;
    const row = await processByKey(records, key);
    // The row is durable before anything is started.
    if (!row) return { never: true };
    const known = await this.known(key);
    if (known) return { ok: known };
    // After a restart of the machine a missing file proves nothing.
    if (!sameBoot || (await claim(this.processDir(row.id))) !== "never") return undefined;
    await rm(this.processDir(row.id), { recursive: true, force: true });
    await records.write((tx) => deleteProcess(tx, row.id));
    return { never: true };
  }

  /** The process this call started before. */
  private async known(key: string): Promise<SeenProcess | undefined> {
    const row = await processByKey(this.parts.records, key);
    if (!row) return undefined;
    await this.check(row.id);
    const now = await findProcess(this.parts.records, row.id);
    return now === undefined || (now.state === "lost" && now.pid === null) ? undefined : this.seen(now);
  }

  async list(session: string): Promise<SeenProcess[]> {
    const rows = await processesIn(this.parts.records, session, 50);
    for (const row of rows) if (isOpen(row)) await this.check(row.id);
    return (await processesIn(this.parts.records, session, 50)).map((row) => this.seen(row));
  }

  /** Throws TOOL_INPUT for a process the session did not start (SB-03). */
  async look(id: string, session: string): Promise<SeenProcess> {
    await this.check(id);
    return this.seen(await this.owned(id, session));
  }

  async output(id: string, session: string, most: number, from?: number): Promise<Stretch> {
    await this.owned(id, session);
    return readOutput(this.processDir(id), most, from);
  }

  /** Throws TOOL_INPUT when it has ended or does not take more. */
  async write(id: string, session: string, text: string): Promise<void> {
    const process = await this.look(id, session);
    if (process.state !== "running") throw wrong(`${id} has ended, so it takes no input.`);
    let pipe: number | undefined;
    try {
      pipe = await this.openInput(id);
      const bytes = Buffer.from(text);
      const sent = writeSync(pipe, bytes);
      if (sent < bytes.length)
        throw wrong(
          `${id} took only ${sent} of ${bytes.length} bytes: it isn't reading its input.`,
          "Look at its output with process log; it may want something else first.",
        );
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw wrong(`${id} takes no input now (${(error as NodeJS.ErrnoException).code ?? "closed"}).`);
    } finally {
      if (pipe !== undefined) closeSync(pipe);
    }
  }

  /** A process that was just started opens its end of the pipe a moment later; ENXIO means nobody has it open yet. */
  private async openInput(id: string): Promise<number> {
    for (let tries = 0; ; tries++) {
      try {
        return openSync(
          join(this.processDir(id), "in"),
          constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW,
        );
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENXIO" || tries >= INPUT_TRIES) throw error;
        await wait(INPUT_WAIT_MS);
      }
    }
  }

  /** Ends it with everything it started. Ending what has ended is fine. */
  async kill(id: string, session: string): Promise<SeenProcess> {
    const row = await this.owned(id, session);
    if (isOpen(row)) {
      await this.alone(id, async () => {
        const now = await findProcess(this.parts.records, id);
        if (now && isOpen(now)) await this.end(now);
      });
    }
    return this.seen(await this.owned(id, session));
  }

  /** After a start: reports processes that ended in the meantime and watches running ones again. */
  async settle(): Promise<void> {
    const { records, clock } = this.parts;
    for (const row of await openProcesses(records)) {
      this.open.add(row.id);
      await this.check(row.id);
      if (this.open.has(row.id)) this.guard(row.id);
    }
    this.lookLater();
    for (const { id } of await endedBefore(records, clock.now() - KEPT_MS)) {
      await rm(this.processDir(id), { recursive: true, force: true });
      await records.write((tx) => deleteProcess(tx, id));
    }
  }

  /** Looks no more. The processes go on. */
  stop(): void {
    this.stopped = true;
    this.cancelLook?.();
    for (const id of [...this.guards.keys()]) this.unguard(id);
  }

  /** Watches what it uses up, by the limits it was started with: also one that an earlier life started. */
  private guard(id: string): void {
    const dir = this.processDir(id);
    const limits = keptLimits(dir);
    if (!limits || this.guards.has(id) || this.stopped) return;
    this.guards.set(
      id,
      guard({ key: id }, limits, (why) => keepExcess(dir, why)),
    );
  }

  private unguard(id: string): void {
    this.guards.get(id)?.();
    this.guards.delete(id);
  }

  private seen(row: ProcessRow): SeenProcess {
    const { id, command, state, exit, pid, made_at, ended_at } = row;
    const excess = isOpen(row) ? undefined : keptExcess(this.processDir(id));
    const why = excess === undefined ? {} : { excess };
    return { id, command, state, exit, pid, madeAt: made_at, endedAt: ended_at, ...why };
  }

  private processDir(id: string): string {
    return join(this.parts.dir, id);
  }

  private async owned(id: string, session: string): Promise<ProcessRow> {
    const row = await findProcess(this.parts.records, id);
    if (row?.session === session) return row;
    throw wrong(`You have no background command "${id}".`, 'See process {"action":"list"}.');
  }

  private watch(id: string): void {
    this.open.add(id);
    this.lookLater();
  }

  private lookLater(): void {
    if (this.stopped || this.cancelLook || this.open.size === 0) return;
    this.cancelLook = this.parts.clock.after(LOOK_MS, () => {
      this.cancelLook = undefined;
      void Promise.all([...this.open].map((id) => this.check(id))).finally(() => this.lookLater());
    });
  }

  /** Never throws: the caller finds the row as it is, and the next check tries again. */
  private check(id: string): Promise<void> {
    return this.alone(id, async () => {
      const row = await findProcess(this.parts.records, id);
      if (!row || row.told) this.open.delete(id);
      else if (isOpen(row)) await this.examine(row);
      else await this.tell(row);
    }).catch((error: unknown) => {
      if (!this.stopped)
        this.parts.log.warn("a background process could not be looked at", { id, error: String(error) });
    });
  }

  /** One at a time for each process. */
  private alone(id: string, act: () => Promise<void>): Promise<void> {
    if (this.stopped) return Promise.resolve();
    const turn = (this.busy.get(id) ?? Promise.resolve()).catch(() => {}).then(act);
    const kept = turn.finally(() => {
      if (this.busy.get(id) === kept) this.busy.delete(id);
    });
    this.busy.set(id, kept);
    return kept;
  }

  private async examine(row: ProcessRow): Promise<void> {
    const { records, clock } = this.parts;
    const dir = this.processDir(row.id);
    const before = await readStatus(dir);
    if (!before && (await this.lives(row))) return;
    // Interrupted while starting: from here on it can no longer start, or it has and will report it.
    if (!before && row.pid === null && (await claim(dir)) === "begun" && (await this.lives(row, BEGIN_MS))) return;
    // It may have ended between the two looks.
    const status = before ?? (await readStatus(dir));
    if (status) await this.drained(row);
    this.unguard(row.id);
    // A sandbox ends with its first process; without one something may be left.
    await endRun({ key: row.id });
    const at = status?.at ?? clock.now();
    const end = { state: status ? ("exited" as const) : ("lost" as const), exit: status?.code ?? null, at };
    // What was never begun has nothing to tell: its call sees to that itself.
    const told = !status && row.pid === null;
    await records.write((tx) => markEnded(tx, row.id, { ...end, told }));
    if (told) this.open.delete(row.id);
    else await this.tell({ ...row, ...end, ended_at: at });
  }

  private async lives(row: ProcessRow, patienceMs = 0): Promise<boolean> {
    if (row.pid !== null) return (await readIdentity(row.pid)) === row.started;
    // Cut off while starting: the supervisor says itself who it is, a moment after it has begun.
    const until = performance.now() + patienceMs;
    let pid = await readPid(this.processDir(row.id));
    for (; pid === undefined && performance.now() < until; pid = await readPid(this.processDir(row.id))) await wait(10);
    const started = pid === undefined ? undefined : await readIdentity(pid);
    if (pid === undefined || started === undefined) return false;
    await this.parts.records.write((tx) => markRunning(tx, row.id, pid, started));
    return true;
  }

  private async drained(row: ProcessRow): Promise<void> {
    const until = performance.now() + DRAIN_MS;
    while (performance.now() < until && (await this.lives(row))) await wait(10);
  }

  private async end(row: ProcessRow): Promise<void> {
    const { records, clock } = this.parts;
    const dir = this.processDir(row.id);
    this.unguard(row.id);
    await endRun({ key: row.id });
    if (row.stop) {
      const [program, ...args] = JSON.parse(row.stop) as [string, ...string[]];
      const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
      await promisify(execFile)(program, args, { env, timeout: PATIENCE_MS }).catch(() => {});
    }
    const until = performance.now() + KILL_MS;
    while (!(await readStatus(dir)) && (await this.lives(row)) && performance.now() < until) await wait(20);
    const now = await findProcess(records, row.id);
    // What hid its tag is still the supervisor's child.
    if (now?.pid && (await this.lives(now))) await endRun({ key: row.id, leader: now.pid });
    const status = await readStatus(dir);
    const at = status?.at ?? clock.now();
    // The caller gets the result right away, so there is no message about it.
    await records.write((tx) => markEnded(tx, row.id, { state: "killed", exit: status?.code ?? null, at, told: true }));
    this.open.delete(row.id);
  }

  private async tell(row: ProcessRow): Promise<void> {
    const { text } = await readOutput(this.processDir(row.id), TOLD_BYTES);
    const { id, agent, session } = row;
    const output = text.trim() === "" ? PRINTED_NOTHING : lastOutput(text.trimEnd());
    await this.parts.tell({
      id,
      agent,
      session,
      route: JSON.parse(row.route) as ReplyRoute,
      label: endLabel(id, quotedName(row.command), howItEnded(row, keptExcess(this.processDir(id)))),
      body: endBody(row.command, output),
    });
    await this.parts.records.write((tx) => markTold(tx, id));
    this.open.delete(id);
  }
}

/** `excess`: the limit it was ended for. */
export function howItEnded(
  { state, exit, made_at, ended_at }: Pick<ProcessRow, "state" | "exit" | "made_at" | "ended_at">,
  excess?: string,
): string {
  if (excess !== undefined) return endedForLimit(excess);
  if (state === "lost") return END_UNKNOWN;
  const took = ended_at === null ? "" : `, ${Math.max(0, Math.round((ended_at - made_at) / 1000))} s`;
  return state === "killed" ? `killed${took}` : exitAndTime(exit, took);
}

function isOpen(row: ProcessRow): boolean {
  return row.state === "starting" || row.state === "running";
}

function wrong(message: string, hint?: string): AppError {
  return new AppError("TOOL_INPUT", { message, ...truthy({ hint }) });
}
