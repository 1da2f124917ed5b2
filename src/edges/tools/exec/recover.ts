/**
 * A command that an earlier life of Lares started and did not see the end of. Its supervisor went on: its end is read, or waited
 * for as long as the command may take.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { readPid, readStatus, supervises } from "../process/supervisor.ts";
import { type Kept, readRun } from "./output.ts";
import { endRun, membersOf, type Run } from "./processes.ts";
import { plainText } from "./pty.ts";
import { DRAIN_MS, type Ended, type Exit, endAll, endElsewhere, endLeftovers, exitIn } from "./run.ts";

/** Nobody tells us of its end any more. */
const LOOK_MS = 20;
/** A supervisor that has just begun has not written its pid yet. */
const BEGIN_MS = 2000;
/** From the command's end to the line that says how. */
const WRITE_MS = 1000;

/** Undefined: its supervisor is gone and has not written how it ended. What may be left of it is ended. */
export async function recoverCommand(
  command: Kept & { timeoutMs: number; env: Readonly<Record<string, string>>; terminal?: boolean },
  signal: AbortSignal,
): Promise<Ended | undefined> {
  const { dir, key, timeoutMs } = command;
  const leader = await leaderOf(dir);
  const run: Run = { key, supervised: true, ...(leader === undefined ? {} : { leader }) };
  const lives = async () =>
    (leader !== undefined && (await supervises(leader, dir))) ||
    // A terminal that hung up has taken the first shell with it.
    (command.terminal === true && (await membersOf({ key })).length > 0);
  const begunAt = (await stat(join(dir, "pid"))).mtimeMs;
  let how: Ended["how"] = "exited";
  let exit: Exit | undefined;
  for (;;) {
    const isAlive = await lives();
    // Read after the look at the supervisor: it may have ended between the two.
    if (!isAlive && command.terminal) await until(() => exitIn(dir) !== undefined, WRITE_MS);
    exit = exitIn(dir);
    if (exit || !isAlive) break;
    if (signal.aborted || Date.now() - begunAt > timeoutMs) {
      how = signal.aborted ? "aborted" : "timeout";
      await endAll(
        run,
        until(() => exitIn(dir) !== undefined),
      );
      const end = await readFile(join(dir, "end"), "utf8").catch(() => undefined);
      if (end) await endElsewhere(JSON.parse(end) as [string, ...string[]], command.env);
      exit = exitIn(dir) ?? { code: null, signal: "SIGKILL" };
      break;
    }
    await wait(LOOK_MS);
  }
  if (!exit) {
    await endRun({ key });
    return undefined;
  }
  // Without its supervisor its number may be somebody else's.
  const left: Run = (await lives()) ? run : { key };
  const drained = until(async () => !(await lives()));
  const leftovers = how === "exited" ? await endLeftovers(left, drained) : 0;
  await Promise.race([drained, wait(DRAIN_MS)]);
  const endedAt = (await readStatus(dir))?.at ?? Date.now();
  return {
    ...(await readRun(command, command.terminal ? plainText : undefined)),
    ...exit,
    how,
    leftovers,
    ms: Math.max(0, Math.round(endedAt - begunAt)),
  };
}

async function leaderOf(dir: string): Promise<number | undefined> {
  const patience = performance.now() + BEGIN_MS;
  for (;;) {
    const pid = await readPid(dir);
    if (pid !== undefined) return (await supervises(pid, dir)) ? pid : undefined;
    if (performance.now() > patience) return undefined;
    await wait(LOOK_MS);
  }
}

/** Gives up after the longest anybody here waits, so that nothing looks for ever. */
async function until(holds: () => boolean | Promise<boolean>, mostMs = 2 * BEGIN_MS): Promise<void> {
  const patience = performance.now() + mostMs;
  while (!(await holds()) && performance.now() < patience) await wait(LOOK_MS);
}
