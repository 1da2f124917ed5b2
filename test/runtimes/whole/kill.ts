/**
 * `npm run test:runtimes -- --kill --rounds 30 [--seed N] [names]`: several real runtimes at work at once, and Lares killed in the middle.
 * Each round kills it in one phase of one runtime, in turn, so that every phase of each of them comes up; the others are wherever they
 * happen to be. After the restart every task has to end with its answer, its effect done once, and nothing left of it.
 */
import { readdirSync } from "node:fs";
import { random } from "../../kill/random.ts";
import { readProc } from "../../support/processes.ts";
import { type GivenTask, PHASES, type RealBody, TAG, WholeLares } from "./lares.ts";

export interface KillReport {
  rounds: number;
  kills: Map<string, number>;
  tasks: number;
  lost: string[];
  doubled: string[];
  left: string[];
  /** Processes of an earlier attempt beside those of the next one (RUNS-1). */
  overlaps: string[];
  /** Words that an attempt repeated after the one before. */
  again: number;
  /** From the kill to the last answer of its round. */
  ms: number[];
}

/** Of a phase that lasts: where in it the kill falls. */
const LATEST_MS = 700;
/** Between two looks at all processes. */
const LOOK_MS = 150;

export async function runKillRounds(options: {
  bodies: readonly RealBody[];
  rounds: number;
  seed: number;
  say(line: string): void;
}): Promise<KillReport> {
  const { bodies, rounds, seed, say } = options;
  const dice = random(seed);
  const whole = await WholeLares.open(bodies);
  const report: KillReport = {
    rounds,
    kills: new Map(),
    tasks: 0,
    lost: [],
    doubled: [],
    left: [],
    overlaps: [],
    again: 0,
    ms: [],
  };
  try {
    for (let round = 0; round < rounds; round++) {
      const lead = bodies[round % bodies.length]!;
      const phase = PHASES[Math.floor(round / bodies.length) % PHASES.length]!;
      const tasks: GivenTask[] = [];
      for (const body of bodies) tasks.push(await whole.give(`task-${round}-${body.runtime}`, body));
      const watched = watch(whole, tasks);
      await whole.reach(tasks.find(({ body }) => body === lead)!, phase, dice.below(LATEST_MS));
      const began = performance.now();
      await whole.kill();
      whole.letGo();
      for (const task of tasks) {
        const { lost, doubled, again } = await whole.judge(task);
        report.again += again;
        report.lost.push(...lost.map((one) => `round ${round + 1}: ${one}`));
        report.doubled.push(...doubled.map((one) => `round ${round + 1}: ${one}`));
      }
      report.ms.push(performance.now() - began);
      report.overlaps.push(...(await watched.end()));
      report.left.push(...whole.left(tasks));
      report.tasks += tasks.length;
      const place = `${lead.runtime}, ${phase}`;
      report.kills.set(place, (report.kills.get(place) ?? 0) + 1);
      say(`  round ${round + 1}: ${place}, all ended after ${(report.ms.at(-1)! / 1000).toFixed(1)} s`);
    }
  } finally {
    await whole.close();
  }
  return report;
}

/** Looks for two attempts of one run that are alive at once: one under this Lares, one under another parent. */
function watch({ lares }: WholeLares, tasks: readonly GivenTask[]): { end(): Promise<string[]> } {
  const found = new Set<string>();
  /** Of the look before: a process that is about to end loses its variables a moment before its children have another parent. */
  let strays = new Set<number>();
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      const roots = findRoots();
      const seen = new Set<number>();
      for (const { turn, body } of tasks) {
        const mine = roots.filter((one) => one.turn === turn);
        const other = mine.filter(({ parent }) => parent !== lares.pid);
        if (other.length === mine.length) continue;
        for (const { pid } of other) {
          seen.add(pid);
          if (strays.has(pid))
            found.add(`${body.runtime}, ${turn}: two attempts at once, ${readProc(`${pid}/cmdline`)}`);
        }
      }
      strays = seen;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  })();
  return {
    async end() {
      isOver = true;
      await looking;
      return [...found];
    },
  };
}

/** The topmost process of each run, or several where a run has lost its parent. */
function findRoots(): { pid: number; parent: number; turn: string }[] {
  const tagged = new Map<number, { parent: number; turn: string }>();
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    const tag = readProc(`${name}/environ`)
      .split("\0")
      .find((line) => line.startsWith(`${TAG}=`));
    const stat = readProc(`${name}/stat`);
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (tag !== undefined && state !== "Z")
      tagged.set(Number(name), { parent: Number(parent), turn: tag.slice(TAG.length + 1) });
  }
  return [...tagged].flatMap(([pid, one]) => (tagged.get(one.parent)?.turn === one.turn ? [] : [{ pid, ...one }]));
}

export function sayKills(report: KillReport): string {
  const { rounds, tasks, lost, doubled, left, overlaps, again, ms, kills } = report;
  const sorted = [...ms].sort((a, b) => a - b);
  const at = (share: number) => ((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) / 1000).toFixed(1);
  return [
    ...[...kills].map(([place, times]) => `  killed while ${place}: ${times}`),
    `rounds ${rounds}, tasks ${tasks}`,
    `lost tasks ${lost.length}`,
    `doubled effects ${doubled.length}`,
    `leftover processes ${left.length}`,
    `two attempts at once ${overlaps.length}`,
    `answers that the next attempt repeated in the conversation ${again}`,
    `from the kill to the last answer: median ${at(0.5)} s, longest ${at(1)} s`,
  ].join("\n");
}

export const violationsOf = ({ lost, doubled, left, overlaps }: KillReport) => [
  ...lost.map((one) => `LOST ${one}`),
  ...doubled.map((one) => `DOUBLED ${one}`),
  ...left.map((one) => `LEFT ${one}`),
  ...overlaps.map((one) => `OVERLAP ${one}`),
];
