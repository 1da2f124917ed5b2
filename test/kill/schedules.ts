/**
 * `kill -9` at fire time: the real program with jobs that come every few seconds and scripts due in this very moment, killed
 * around their due times and at the named crash points of a slot, again and again on the same home. What must hold then:
 *
 * KILL-7: every due time of a job has exactly one slot, or lies in a stretch that a slot's reason names.
 * KILL-8: every slot that came has an end; one that did not run says why.
 * KILL-9: a slot that is done has one turn of its own, and its answer was shown once; one that did not run has neither.
 * KILL-10: a script that is done ran once; one cut off ran at most once, says so, and is not run again.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openRecords } from "../../src/ground/records/index.ts";
import { allJobs, type FarSide, Lares, spawnModel, startFarSide, until } from "../support/index.ts";
import { random } from "./random.ts";

export interface ScheduleKillReport {
  seed: number;
  rounds: number;
  atPoints: number;
  slots: Record<string, number>;
  scripts: { done: number; unknown: number; missed: number };
  seconds: number;
  readyMs: number;
  violations: string[];
}

const REPEATING = [
  { name: "once-2s", every: 2, catchUp: "once" },
  { name: "all-3s", every: 3, catchUp: "all" },
  { name: "skip-5s", every: 5, catchUp: "skip" },
] as const;
/** Killed here, the n-th time: n is chosen, so that also a later slot's passing is met. */
const POINTS = [
  "slot.planned",
  "slot.admitted",
  "slot.started",
  "slot.ending",
  "slot.ended",
  "effect.intended",
  "effect.acted",
  "accept.committed",
  "segment.started",
  "end.before",
  "end.committed",
  "outbox.claimed",
];
/** One script a round each: those of one workspace would wait for each other. */
const WORKERS = ["ant", "bee"] as const;
/** A life that meets no crash point is ended after this long. */
const LONGEST_LIFE_MS = 1200;

interface SlotRow {
  name: string;
  due: number;
  state: string;
  reason: string | null;
  turn: string | null;
}

interface Options {
  rounds: number;
  seed: number;
  /** No more rounds after this; what was done is checked. */
  minutes?: number;
  /** So many programs side by side, each killed again and again on a home of its own; they share the rounds. */
  homes?: number;
  progress?: (round: number) => void;
}

export async function runScheduleKill(options: Options): Promise<ScheduleKillReport> {
  const begun = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "lares-kill-slots-"));
  const model = await spawnModel(join(folder, "model.jsonl"));
  const isOver = () => performance.now() - begun > (options.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
  let rounds = 0;
  /** What did not come to rest is not thrown away. */
  let isKept = false;
  const nextRound = () => {
    if (rounds >= options.rounds || isOver()) return undefined;
    rounds++;
    options.progress?.(rounds);
    return rounds;
  };
  try {
    const homes = Math.min(options.homes ?? 1, options.rounds);
    const ends = await Promise.allSettled(
      Array.from({ length: homes }, (_, n) =>
        oneHome({ home: join(folder, `home-${n}`), seed: options.seed * 100 + n, env: model.env, nextRound }),
      ),
    );
    const found = ends.map((end) => {
      if (end.status === "fulfilled") return end.value;
      isKept = true;
      throw end.reason;
    });
    const sum = (of: (one: (typeof found)[number]) => number) => found.reduce((all, one) => all + of(one), 0);
    const slots: Record<string, number> = {};
    for (const one of found) {
      for (const [state, n] of Object.entries(one.slots)) slots[state] = (slots[state] ?? 0) + n;
    }
    return {
      slots,
      scripts: {
        done: sum((one) => one.scripts.done),
        unknown: sum((one) => one.scripts.unknown),
        missed: sum((one) => one.scripts.missed),
      },
      violations: found.flatMap((one, n) => one.violations.map((what) => (homes > 1 ? `home ${n}: ${what}` : what))),
      seed: options.seed,
      rounds,
      atPoints: sum((one) => one.atPoints),
      readyMs: Math.round(sum((one) => one.readyMs) / Math.max(rounds, 1)),
      seconds: (performance.now() - begun) / 1000,
    };
  } finally {
    await model.stop();
    if (isKept) process.stderr.write(`Kept to be looked at: ${folder}\n`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

/** Killed and started again on one home as long as there are rounds; then it comes to rest and is looked at. */
async function oneHome(given: {
  home: string;
  seed: number;
  env: Record<string, string>;
  nextRound: () => number | undefined;
}) {
  const choose = random(given.seed);
  const far = await startFarSide();
  const anchor = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString();
  const lares = new Lares({
    home: given.home,
    env: given.env,
    config: {
      models: {
        default: "anthropic/scripted",
        providers: { anthropic: { models: { scripted: { price: { input: 0, output: 0 } } } } },
      },
      policy: { mode: "record" },
      agents: Object.fromEntries(WORKERS.map((name) => [name, {}])),
      time: { zone: "UTC" },
      outbox: { firstRetryMs: 20, mostRetryMs: 200 },
      channels: { webhook: { hook: { secret: far.secret, url: far.url, dedupes: true } } },
      schedules: REPEATING.map(({ name, every, catchUp }) => ({
        name,
        every: `${every} seconds`,
        anchor,
        catchUp,
        prompt: "look say:{envelope}",
        deliver: { channel: "webhook", account: "hook", chat: name },
      })),
    },
  });
  const tokens = new Map<string, { due: number }>();
  let atPoints = 0;
  let readyMs = 0;
  try {
    for (let round = given.nextRound(); round !== undefined; round = given.nextRound()) {
      const point = choose.chance(0.5) ? POINTS[choose.below(POINTS.length)]! : undefined;
      const at = performance.now();
      lares.spawn(point ? { LARES_CRASH_AT: `${point}:${1 + choose.below(6)}` } : {});
      const up = await lares.ready().then(
        () => true,
        () => false,
      );
      readyMs += performance.now() - at;
      if (up) await addScripts(lares, round, choose, tokens);
      const died = await Promise.race([
        lares.gone.then(() => true),
        pause(point ? LONGEST_LIFE_MS : choose.below(LONGEST_LIFE_MS)).then(() => false),
      ]);
      if (died) atPoints++;
      await lares.kill9();
    }
    await lares.start();
    await settle(lares);
    await lares.stop();
    return { ...(await check(lares, far, tokens)), atPoints, readyMs };
  } finally {
    await lares.kill9();
    await far.close();
  }
}

/** One-shot scripts due in the next second. A request cut off by the death is a job that may be there or not. */
async function addScripts(
  lares: Lares,
  round: number,
  choose: ReturnType<typeof random>,
  tokens: Map<string, { due: number }>,
): Promise<void> {
  for (const agent of WORKERS) {
    const token = `r${round}-${agent}`;
    const due = Date.now() + choose.below(900);
    const made = await lares
      .rpc("schedule.add", { name: token, agent, script: `echo ${token} >> witness`, at: due })
      .catch(() => undefined);
    if (made) tokens.set(token, { due });
  }
}

/** The repeating jobs rest, and everything that was due has its end. */
async function settle(lares: Lares): Promise<void> {
  // What is overdue comes up first; after that nothing new may come while it is stopped and looked at.
  const isUp = async () =>
    (await allJobs(lares)).every((job) => job.next === undefined || job.next > Date.now() - 1000);
  await until("what is overdue to come up", isUp, { withinMs: PATIENCE_MS });
  for (const { name } of REPEATING) await lares.rpc("schedule.update", { id: name, enabled: false });
  // A loaded machine leaves much undone: it may take long, as long as it goes on.
  let least = Number.POSITIVE_INFINITY;
  for (let left = await leftOver(lares); left.count > 0; left = await leftOver(lares)) {
    if (left.count >= least) throw new Error(`Nothing ended for ${PATIENCE_MS} ms: ${left.what}`);
    least = left.count;
    await until("something to end", async () => (await leftOver(lares)).count < least, { withinMs: PATIENCE_MS }).catch(
      () => {},
    );
  }
}

const PATIENCE_MS = 60_000;

/** What has not come to its end: turns, deliveries, slots that run or are overdue. */
async function leftOver(lares: Lares): Promise<{ count: number; what: string }> {
  const { turns, deliveries } = await lares.rpc("status", {});
  const jobs = await allJobs(lares);
  const overdue = jobs.filter((job) => job.next !== undefined && job.next < Date.now() - 3000).map((job) => job.name);
  const open = jobs.filter((job) => job.recent.some((slot) => slot.state === "running")).map((job) => job.name);
  const count = overdue.length + open.length + turns.running + turns.queued + deliveries.waiting;
  return { count, what: JSON.stringify({ turns, deliveries, overdue, open }) };
}

async function check(lares: Lares, far: FarSide, tokens: Map<string, { due: number }>) {
  const violations: string[] = [];
  const records = await openRecords(join(lares.home, "lares.db"), () => {});
  const rows = await records.all<SlotRow>(
    "SELECT job.name, slot.due, slot.state, slot.reason, slot.turn FROM slot JOIN job ON job.id = slot.job ORDER BY due",
  );
  records.close();
  const slots: Record<string, number> = {};
  const turns = new Set<string>();
  for (const row of rows) {
    if (row.state !== "pending") slots[row.state] = (slots[row.state] ?? 0) + 1;
    if (row.state === "running") violations.push(`KILL-8 ${row.name} ${row.due} is still running`);
    if (["missed", "skipped", "failed"].includes(row.state) && !row.reason) {
      violations.push(`KILL-8 ${row.name} ${row.due} is ${row.state} without a reason`);
    }
    if (row.turn && turns.has(row.turn)) violations.push(`KILL-9 the turn ${row.turn} belongs to two slots`);
    if (row.turn) turns.add(row.turn);
  }
  for (const job of REPEATING) {
    checkGrid(
      job,
      rows.filter((row) => row.name === job.name),
      violations,
    );
    checkShown(
      job.name,
      rows.filter((row) => row.name === job.name),
      far,
      violations,
    );
  }
  return { violations, slots, scripts: checkScripts(rows, witnessOf(lares), tokens, violations) };
}

function checkGrid(job: { name: string; every: number }, rows: SlotRow[], violations: string[]): void {
  const step = job.every * 1000;
  let expected = rows[0]?.due ?? 0;
  let covered = 0;
  for (const row of rows) {
    while (expected < row.due) {
      if (expected >= covered)
        violations.push(`KILL-7 ${job.name} has no slot for ${new Date(expected).toISOString()}`);
      expected += step;
    }
    if (row.due !== expected) violations.push(`KILL-7 ${job.name} has a slot off its grid: ${row.due}`);
    expected += step;
    const until = /until (\d{4}-\S+Z)/.exec(row.reason ?? "")?.[1];
    if (until) covered = Math.max(covered, Date.parse(until));
  }
}

function checkShown(name: string, rows: SlotRow[], far: FarSide, violations: string[]): void {
  const shown = new Map<number, number>();
  for (const { text } of far.shown.filter((m) => m.chat === name)) {
    const [, day, time] = /due (\S+) ([\d:]+);/.exec(text) ?? [];
    const due = Date.parse(`${day}T${time?.length === 5 ? `${time}:00` : time}Z`);
    shown.set(due, (shown.get(due) ?? 0) + 1);
  }
  for (const row of rows) {
    const times = shown.get(row.due) ?? 0;
    shown.delete(row.due);
    const want = row.state === "done" ? 1 : 0;
    if (times !== want) violations.push(`KILL-9 ${name} ${row.due} is ${row.state} and was shown ${times} times`);
    if (row.state === "done" && !row.turn) violations.push(`KILL-9 ${name} ${row.due} is done without a turn`);
  }
  for (const due of shown.keys()) violations.push(`KILL-9 ${name} showed an answer for ${due}, which has no slot`);
}

function checkScripts(rows: SlotRow[], lines: string[], tokens: Map<string, { due: number }>, violations: string[]) {
  const seen = { done: 0, unknown: 0, missed: 0 };
  for (const token of tokens.keys()) {
    const own = rows.filter((row) => row.name === token);
    const times = lines.filter((line) => line === token).length;
    if (own.length !== 1) violations.push(`KILL-7 ${token} was acknowledged and has ${own.length} slots`);
    const slot = own[0];
    if (slot?.state === "done") {
      seen.done++;
      if (times !== 1) violations.push(`KILL-10 ${token} is done and ran ${times} times`);
    } else if (slot?.state === "failed") {
      seen.unknown++;
      if (times > 1) violations.push(`KILL-10 ${token} ran ${times} times`);
      if (!/Outcome unknown/.test(slot.reason ?? "")) violations.push(`KILL-10 ${token} failed: ${slot.reason}`);
    } else {
      seen.missed++;
      if (times > 0) violations.push(`KILL-10 ${token} is ${slot?.state} and ran`);
    }
  }
  for (const line of new Set(lines)) {
    const times = lines.filter((one) => one === line).length;
    if (!tokens.has(line) && times > 1) violations.push(`KILL-10 ${line} was not acknowledged and ran ${times} times`);
  }
  return seen;
}

function witnessOf(lares: Lares): string[] {
  return WORKERS.flatMap((agent) => {
    const file = join(lares.workspace(agent), "witness");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  });
}

export function scheduleTable(r: ScheduleKillReport): string {
  const rows: [string, string | number][] = [
    ["seed", r.seed],
    ["rounds (kill -9, restart)", r.rounds],
    ["of these at a named crash point", r.atPoints],
    [
      "slots",
      Object.entries(r.slots)
        .map(([state, n]) => `${n} ${state}`)
        .join(", "),
    ],
    [
      "one-shot scripts",
      `${r.scripts.done} done once, ${r.scripts.unknown} unknown and said so, ${r.scripts.missed} missed`,
    ],
    ["start to ready, mean", `${r.readyMs} ms`],
    ["duration", `${r.seconds.toFixed(1)} s`],
    ["twice, lost, without a reason", r.violations.length],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join("\n");
}
