/**
 * `npm run test:runtimes -- --kill --rounds 30 [--seed N] [names]`: several real runtimes at work at once, and Lares killed in the middle.
 * Each round kills it in one phase of one runtime, in turn, so that every phase of each of them comes up; the others are wherever they
 * happen to be. After the restart every task has to end with its answer, its effect done once, and nothing left of it.
 */
import { random } from "../../kill/random.ts";
import { processesTagged, readProc } from "../../support/processes.ts";
import { ATTEMPT, type GivenTask, PHASES, type RealBody, TAG, WholeLares } from "./lares.ts";

export interface KillReport {
  rounds: number;
  kills: Map<string, number>;
  tasks: number;
  lost: string[];
  doubled: string[];
  left: string[];
  /** Processes of an earlier attempt beside those of the next one (RUNS-1). */
  overlaps: string[];
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
    ms: [],
  };
  try {
    for (let round = 0; round < rounds; round++) {
      const lead = bodies[round % bodies.length]!;
      const phase = PHASES[Math.floor(round / bodies.length) % PHASES.length]!;
      const tasks: GivenTask[] = [];
      for (const body of bodies) tasks.push(await whole.give(`task-${round}-${body.runtime}`, body));
      const watched = watch(tasks);
      await whole.reach(tasks.find(({ body }) => body === lead)!, phase, dice.below(LATEST_MS));
      const began = performance.now();
      await whole.kill();
      whole.letGo();
      for (const task of tasks) {
        const { lost, doubled } = await whole.judge(task);
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

/** Looks for two attempts of one run that are alive at once. */
function watch(tasks: readonly GivenTask[]): { end(): Promise<string[]> } {
  const found = new Set<string>();
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      for (const { turn, body } of tasks)
        for (const one of findOverlaps(turn)) found.add(`${body.runtime}, ${turn}: ${one}`);
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

/**
 * A look at all processes takes a while, and one that was seen at its start may be gone when the next attempt begins. So one of an earlier
 * attempt counts only when it is still alive after one of a later attempt was seen: then both were, at that moment.
 */
function findOverlaps(turn: string): string[] {
  const seen = processesTagged(TAG, turn).flatMap((pid) => {
    const attempt = readAttempt(pid);
    return attempt === undefined ? [] : [{ pid, attempt }];
  });
  const latest = Math.max(...seen.map(({ attempt }) => attempt));
  const earlier = seen.filter(({ pid, attempt }) => attempt < latest && readAttempt(pid) === attempt);
  return earlier.map(
    ({ pid, attempt }) => `attempt ${attempt} beside attempt ${latest}: ${readProc(`${pid}/cmdline`).slice(0, 200)}`,
  );
}

/** Of a process that is alive: one that has ended has no variables any more. */
function readAttempt(pid: number): number | undefined {
  const line = readProc(`${pid}/environ`)
    .split("\0")
    .find((one) => one.startsWith(`${ATTEMPT}=`));
  return line === undefined ? undefined : Number(line.slice(ATTEMPT.length + 1));
}

export function sayKills(report: KillReport): string {
  const { rounds, tasks, lost, doubled, left, overlaps, ms, kills } = report;
  const sorted = [...ms].sort((a, b) => a - b);
  const at = (share: number) => ((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) / 1000).toFixed(1);
  return [
    ...[...kills].map(([place, times]) => `  killed while ${place}: ${times}`),
    `rounds ${rounds}, tasks ${tasks}`,
    `lost tasks ${lost.length}`,
    `doubled effects ${doubled.length}`,
    `leftover processes ${left.length}`,
    `two attempts at once ${overlaps.length}`,
    `from the kill to the last answer: median ${at(0.5)} s, longest ${at(1)} s`,
  ].join("\n");
}

export const violationsOf = ({ lost, doubled, left, overlaps }: KillReport) => [
  ...lost.map((one) => `LOST ${one}`),
  ...doubled.map((one) => `DOUBLED ${one}`),
  ...left.map((one) => `LEFT ${one}`),
  ...overlaps.map((one) => `OVERLAP ${one}`),
];
