/**
 * A command that an earlier life of Lares started and did not see the end of. Its supervisor went on: its end is read, or waited
 * for as long as the command may take, and it is watched for what it may use up, as before.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { defined, truthy } from "../../../core/kit/index.ts";
import { keepExcess, keptExcess, keptLimits } from "../process/kept.ts";
import { readPid, readStatus, supervises } from "../process/supervisor.ts";
import { guard } from "./guard.ts";
import { type Kept, readRun } from "./output.ts";
import { endRun, findMembers, type Run } from "./processes.ts";
import { plainText } from "./pty.ts";
import { DRAIN_MS, type EndedRun, endAll, endElsewhere, endLeftovers, exitIn, type RunExit } from "./run.ts";

/** We won't be notified of its end. */
const LOOK_MS = 20;
/** A supervisor that has just begun has not written its pid yet. */
const BEGIN_MS = 2000;
/** From the command's end to the line that says how. */
const WRITE_MS = 1000;

type Left = Kept & { timeoutMs: number; env: Readonly<Record<string, string>>; terminal?: boolean };

/** Undefined: its supervisor is gone and has not written how it ended. What may be left of it is ended. */
export async function recoverCommand(command: Left, signal: AbortSignal): Promise<EndedRun | undefined> {
  const { dir, key } = command;
  const leader = await findLeader(dir);
  const run: Run = { key, supervised: true, ...defined({ leader }) };
  const lives = async () =>
    (leader !== undefined && (await supervises(leader, dir))) ||
    // A terminal that hung up has taken the first shell with it.
    (command.terminal === true && (await findMembers({ key })).length > 0);
  const begunAt = (await stat(join(dir, "pid"))).mtimeMs;
  const { exit, how, why } = await awaitEnd({ ...command, begunAt, run, lives }, signal);
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
    ...truthy({ why }),
    leftovers,
    ms: Math.max(0, Math.round(endedAt - begunAt)),
  };
}

/** Waits for its end, or ends it when it exceeds its time or limits, or is no longer wanted. */
async function awaitEnd(
  command: Left & { begunAt: number; run: Run; lives: () => Promise<boolean> },
  signal: AbortSignal,
): Promise<{ exit?: RunExit; how: EndedRun["how"]; why?: string }> {
  const { dir, run, lives } = command;
  // The last life may have ended it for a limit, and died before it could say so.
  let why = keptExcess(dir);
  const limits = keptLimits(dir);
  const unguard = limits
    ? guard(run, limits, (excess) => {
        why = excess;
        keepExcess(dir, excess);
      })
    : () => {};
  try {
    for (;;) {
      const isAlive = await lives();
      // Read after the look at the supervisor: it may have ended between the two.
      if (!isAlive && command.terminal) await until(() => exitIn(dir) !== undefined, WRITE_MS);
      const exit = exitIn(dir);
      const isTooLong = Date.now() - command.begunAt > command.timeoutMs;
      const how = whyEnded({ isOverLimit: Boolean(why), isAborted: signal.aborted, isTooLong });
      if (why && !isAlive) return { exit: exit ?? { code: null, signal: "SIGKILL" }, how, why };
      if (!isAlive || (exit && !why)) return exit ? { exit, how: "exited" } : { how };
      if (how !== "exited") {
        await endAll(
          run,
          until(() => exitIn(dir) !== undefined),
        );
        const end = await readFile(join(dir, "end"), "utf8").catch(() => undefined);
        if (end) await endElsewhere(JSON.parse(end) as [string, ...string[]], command.env);
        return { exit: exitIn(dir) ?? { code: null, signal: "SIGKILL" }, how, ...truthy({ why }) };
      }
      await wait(LOOK_MS);
    }
  } finally {
    unguard();
  }
}

async function findLeader(dir: string): Promise<number | undefined> {
  const patience = performance.now() + BEGIN_MS;
  for (;;) {
    const pid = await readPid(dir);
    if (pid !== undefined) return (await supervises(pid, dir)) ? pid : undefined;
    if (performance.now() > patience) return undefined;
    await wait(LOOK_MS);
  }
}

/** Gives up after the longest wait anyone here has, so that nothing polls forever. */
async function until(holds: () => boolean | Promise<boolean>, mostMs = 2 * BEGIN_MS): Promise<void> {
  const patience = performance.now() + mostMs;
  while (!(await holds()) && performance.now() < patience) await wait(LOOK_MS);
}

function whyEnded(is: { isOverLimit: boolean; isAborted: boolean; isTooLong: boolean }): EndedRun["how"] {
  if (is.isOverLimit) return "limit";
  if (is.isAborted) return "aborted";
  return is.isTooLong ? "timeout" : "exited";
}
