/**
 * Watches how many processes a run has, and how much memory they use together. The kernel bounds a single process; a command that
 * starts thousands of them is inside every such bound, and for root the kernel does not count processes at all.
 *
 * Looking through all processes of the machine is dear, so it is done more and more rarely, and at once when the machine as a whole
 * has changed enough for a run to be over its limit. The machine alone does not tell: others free memory meanwhile.
 */
import { readFile } from "node:fs/promises";
import type { SandboxLimits } from "../sandbox/limits.ts";
import { endRun, findMembers, type Run } from "./processes.ts";

const LOOK_EVERY_MS = 250;
/** From one look at all processes to the next: soon after the start, then rarely. */
const FIRST_SCAN_MS = 500;
const LAST_SCAN_MS = 2000;
const SERVICE_SCAN_MS = 20_000;
/** A run this far below its limit is checked again only in the next round. */
const WATCHFUL = 0.5;

interface Machine {
  tasks: number;
  availableMb: number;
}

type GuardLimits = Pick<SandboxLimits, "processes" | "memoryMb">;

/** How an excess is said, and what else is looked at. */
export interface GuardWords {
  processes(count: number, most: number): string;
  memory(mb: number, most: number): string;
  /** Why it has to end, if it does. Asked at every look. */
  also?(): Promise<string | undefined>;
  /** A program that runs for days, one among many: it is looked through more rarely, and what the machine does is held against its last look. */
  isService?: true;
}

const COMMAND_WORDS: GuardWords = {
  processes: (count, most) => `it had ${count} processes, and sandbox.limits.processes allows ${most}`,
  memory: (mb, most) => `it used ${mb} MB, and sandbox.limits.memoryMb allows ${most}`,
};

/** Ends the run when it is over a limit, and says why. Call what it returns when the run is over. */
export function guard(
  run: Run,
  limits: GuardLimits,
  onExcess: (why: string) => void,
  words: GuardWords = COMMAND_WORDS,
): () => void {
  if (process.platform !== "linux") return () => {};
  let over = false;
  let timer: NodeJS.Timeout | undefined;
  let start = machine();
  let pause = FIRST_SCAN_MS;
  const longest = words.isService ? SERVICE_SCAN_MS : LAST_SCAN_MS;
  let scanAt = performance.now() + pause;
  const look = async (): Promise<void> => {
    const [before, now] = await Promise.all([start, machine()]);
    if (over || !before || !now) return;
    const isTime = performance.now() >= scanAt;
    if (isTime) {
      pause = Math.min(2 * pause, longest);
      scanAt = performance.now() + pause;
    }
    const mayBe =
      isTime ||
      now.tasks - before.tasks > limits.processes * WATCHFUL ||
      before.availableMb - now.availableMb > limits.memoryMb * WATCHFUL;
    const why = (mayBe ? await findExcess(run, limits, words) : undefined) ?? (await words.also?.());
    if (over) return;
    if (!why) {
      // Otherwise a machine that got busier since would have it looked through four times a second.
      if (mayBe && words.isService) start = Promise.resolve(now);
      again();
      return;
    }
    onExcess(why);
    // At once: a command that forks without end is not asked politely.
    await endRun(run, 0);
  };
  const again = () => {
    timer = setTimeout(() => void look().catch(() => {}), LOOK_EVERY_MS);
    timer.unref();
  };
  again();
  return () => {
    over = true;
    clearTimeout(timer);
  };
}

async function findExcess(run: Run, limits: GuardLimits, words: GuardWords): Promise<string | undefined> {
  const members = await findMembers(run);
  if (members.length > limits.processes) return words.processes(members.length, limits.processes);
  const mb = Math.round(members.reduce((sum, { rssKb }) => sum + rssKb, 0) / 1024);
  return mb > limits.memoryMb ? words.memory(mb, limits.memoryMb) : undefined;
}

/** Tasks and free memory of the whole machine: two small files. */
async function machine(): Promise<Machine | undefined> {
  try {
    const [load, memory] = await Promise.all([readFile("/proc/loadavg", "utf8"), readFile("/proc/meminfo", "utf8")]);
    const tasks = Number(load.split(" ")[3]?.split("/")[1]);
    const at = memory.indexOf("MemAvailable:");
    return { tasks, availableMb: Number.parseInt(memory.slice(at + 13), 10) / 1024 };
  } catch {
    return undefined;
  }
}
