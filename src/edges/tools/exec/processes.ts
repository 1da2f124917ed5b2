/**
 * Ending everything a run has started. The process group catches ordinary children; the run's tag in the environment
 * catches those that left it (double fork, setsid, nohup); parents and sessions catch what cleared its environment while
 * its parent still lives. What does all three at once is for the sandbox to hold.
 */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { atOnce } from "../../../core/kit/index.ts";
import { RUN_TAG } from "./environment.ts";

/** What a polite end may take. */
const POLITE_MS = 2000;
const LOOK_EVERY_MS = 25;
/** SIGKILL cannot be refused; more rounds are needed only while something forks faster than we look. */
const KILL_ROUNDS = 200;
/** It takes everything inside with it at once; those inside are asked first, and it ends with them. */
const SANDBOX = "bwrap";
/** What a supervisor is made of. */
const HELPERS: ReadonlySet<string> = new Set(["sh", "dash", "bash", "busybox", "cat", "tail"]);

export interface Run {
  /** The group leader's pid; undefined when only the tag is known. */
  leader?: number;
  key: string;
  /** The leader is a supervisor: it and its helpers, which write down how the run ended, are not part of the run. */
  supervised?: boolean;
}

/** Ends all processes of a run: SIGTERM, then SIGKILL. Resolves with how many there were, when none is left. */
export async function endRun(run: Run, politeMs = POLITE_MS): Promise<number> {
  const seen = new Set<string>();
  const send = async (signal: NodeJS.Signals): Promise<number> => {
    const alive = await findMembers(run, seen);
    const asked = signal === "SIGKILL" ? alive : alive.filter((one) => one.name !== SANDBOX);
    for (const { pid, id } of asked.length > 0 ? asked : alive) {
      seen.add(id);
      kill(pid, signal);
    }
    return alive.length;
  };
  const until = performance.now() + politeMs;
  if ((await send("SIGTERM")) === 0) return 0;
  // A stopped process does not hear SIGTERM before it is continued.
  await send("SIGCONT");
  while (performance.now() < until) {
    await wait(LOOK_EVERY_MS);
    if ((await findMembers(run, seen)).length === 0) return seen.size;
  }
  for (let round = 0; round < KILL_ROUNDS; round++) {
    if ((await send("SIGKILL")) === 0) break;
    await wait(LOOK_EVERY_MS);
  }
  return seen.size;
}

export interface Member {
  pid: number;
  /** Pid and start time: a pid that was given to somebody else is not this process. */
  id: string;
  /** The program's name, as far as it is known. */
  name: string;
  /** Memory it has in use, as far as it is known. */
  rssKb: number;
}

/** Processes of the run that still live. `known` are ids seen before, which may have lost every other trace. */
export async function findMembers(run: Run, known: ReadonlySet<string> = new Set()): Promise<Member[]> {
  if (process.platform !== "linux") return groupAlive(run.leader);
  const rows = await freshRows();
  const members = new Set<number>();
  for (let grew = true; grew; ) {
    grew = false;
    for (const row of rows) {
      if (members.has(row.pid)) continue;
      const inGroup = run.leader !== undefined && (row.group === run.leader || row.session === run.leader);
      if (!row.tags.includes(run.key) && !inGroup && !known.has(row.id) && !members.has(row.parent)) continue;
      members.add(row.pid);
      grew = true;
    }
  }
  const helpers = run.supervised ? findHelpers(run, rows) : new Set();
  return rows.filter((row) => members.has(row.pid) && !helpers.has(row.pid));
}

/**
 * The supervisor and the shells and programs it made for itself. They carry no tag, while a command has one unless it cleared its
 * variables and is one of these programs itself; such a one is ended with its supervisor.
 */
function findHelpers(run: Run, rows: readonly Row[]): Set<number> {
  const helpers = new Set(run.leader === undefined ? [] : [run.leader]);
  for (let grew = true; grew; ) {
    grew = false;
    for (const row of rows) {
      if (helpers.has(row.pid) || !helpers.has(row.parent)) continue;
      if (row.tags.length > 0 || !HELPERS.has(row.name)) continue;
      helpers.add(row.pid);
      grew = true;
    }
  }
  return helpers;
}

interface Row extends Member {
  parent: number;
  group: number;
  session: number;
  /** The runs it says it belongs to. */
  tags: string[];
}

/** Of a page of memory; larger on some ARM machines, where the sum comes out too small. */
const PAGE_KB = 4;

/** Files of /proc read side by side: enough to be quick, few enough that a machine full of processes stalls nobody. */
const READ_AT_ONCE = 16;

/**
 * All processes of the machine. Runs that end together share one look: a separate look for each costs runs × processes, and a
 * hundred commands that ended at once stalled the gateway for seconds. Nobody gets a look that began before they asked, because
 * it may have missed what was started meanwhile.
 */
const freshRows = shared(async (): Promise<Row[]> => {
  const own = String(process.pid);
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && name !== own);
  return (await atOnce(READ_AT_ONCE, pids, look)).filter((row) => row !== undefined);
});

/** Callers during a run of `work` share the next one. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const mine = work();
    running = mine.then(
      () => {},
      () => {},
    );
    void running.then(() => {
      if (!next) running = undefined;
    });
    return mine;
  };
  return () => {
    if (!running) return begin();
    next ??= running.then(begin);
    return next;
  };
}

async function look(pid: string): Promise<Row | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The program's name is in parentheses and may contain anything; the fields follow the last one.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, parent, group, session] = fields;
    if (state === "Z" || state === "X") return undefined;
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    const mark = `${RUN_TAG}=`;
    const tags = environment.split("\0").filter((line) => line.startsWith(mark));
    return {
      pid: Number(pid),
      id: `${pid}:${fields[19]}`,
      name: stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")")),
      rssKb: Number(fields[21]) * PAGE_KB,
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      tags: tags.map((line) => line.slice(mark.length)),
    };
  } catch {
    return undefined;
  }
}

/** Without /proc only the group is known. */
function groupAlive(leader: number | undefined): Member[] {
  return leader !== undefined && kill(-leader, 0) ? [{ pid: -leader, id: String(-leader), name: "", rssKb: 0 }] : [];
}

function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
