/** What many schedules cost: the start, an idle minute, and how near to its time each one starts. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Result } from "../../src/core/protocol/index.ts";
import { pretend } from "../support/pretend.ts";
import { cpuMs, end, type Lares, percentile, post, sleep, startLares } from "./process.ts";

const MANY = 10_000;
/** Those that come due while it is watched: 50 a second, and then as many in one moment. */
const DUE = 1000;
const A_SECOND = 50;
const AT_ONCE = 200;
const IDLE_MS = 60_000;

export interface ScheduleFigures {
  emptyReadyMs: number;
  fullReadyMs: number;
  idleShare: number;
  lateP50: number;
  lateP99: number;
  lateWorst: number;
  atOnceP99: number;
  missing: number;
}

export async function benchSchedules(modelUrl: string): Promise<ScheduleFigures> {
  const empty = mkdtempSync(join(tmpdir(), "lares-bench-"));
  const full = mkdtempSync(join(tmpdir(), "lares-bench-"));
  const first = await startLares(modelUrl, full);
  await fill(first);
  await end(first);
  // Turn by turn, so that what else the machine does meets both.
  const starts: { empty: number[]; full: number[] } = { empty: [], full: [] };
  for (let i = 0; i < 5; i++) {
    for (const [home, into] of [
      [empty, starts.empty],
      [full, starts.full],
    ] as const) {
      const lares = await startLares(modelUrl, home);
      into.push(lares.readyMs);
      await end(lares);
    }
  }
  const lares = await startLares(modelUrl, full);
  await sleep(5000);
  const cpu = cpuMs(lares.pid);
  await sleep(IDLE_MS);
  const idleShare = (cpuMs(lares.pid) - cpu) / IDLE_MS;
  const spread = await watch(lares, "spread", DUE, (i) => Math.floor((i * 1000) / A_SECOND));
  const burst = await watch(lares, "burst", AT_ONCE, () => 0);
  await end(lares);
  return {
    emptyReadyMs: percentile(starts.empty, 50),
    fullReadyMs: percentile(starts.full, 50),
    idleShare,
    lateP50: percentile(spread.late, 50),
    lateP99: percentile(spread.late, 99),
    lateWorst: Math.max(...spread.late),
    atOnceP99: percentile(burst.late, 99),
    missing: spread.missing + burst.missing,
  };
}

/** Ten thousand jobs over the minutes of the year, half cron in several zones, half rhythms. */
async function fill(lares: Lares): Promise<void> {
  const zones = ["UTC", "Europe/Lisbon", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"];
  // Never this hour: what is measured idle must be idle.
  const hour = (new Date().getUTCHours() + 6) % 24;
  await eachOf(MANY, async (i) => {
    const name = `job-${i}`;
    const cron = `${i % 60} ${(hour + (i % 3)) % 24} ${1 + (i % 28)} ${1 + (i % 12)} *`;
    const when = i % 2 ? { cron, zone: zones[i % 5]! } : { every: `${30 + (i % 300)} days` };
    await must(lares, "schedule.add", { name, prompt: "say:done", ...when });
  });
}

/** Makes jobs due soon and says how late each started. */
async function watch(lares: Lares, label: string, count: number, offset: (i: number) => number) {
  const start = Date.now() + 8000;
  await eachOf(count, (i) =>
    must(lares, "schedule.add", {
      name: `${label}-${i}`,
      prompt: "say:done",
      at: new Date(start + offset(i)).toISOString(),
    }),
  );
  const last = start + offset(count - 1);
  await sleep(Math.max(last - Date.now(), 0) + 2000);
  const late: number[] = [];
  let missing = 0;
  for (let wait = 0; wait < 20; wait++) {
    late.length = 0;
    missing = 0;
    for (const job of await all(lares, `${label}-`)) {
      if (job.last?.startedAt === undefined || job.last.state !== "done") missing++;
      else late.push(job.last.startedAt - job.last.due);
    }
    if (missing === 0) break;
    await sleep(1000);
  }
  return { late, missing };
}

/** Page by page. */
async function all(lares: Lares, search: string): Promise<Result<"schedule.list">["jobs"]> {
  const jobs: Result<"schedule.list">["jobs"] = [];
  for (let cursor: string | undefined; ; ) {
    const q = { limit: 500, search, ...(cursor ? { cursor } : {}) };
    const page = pretend<Result<"schedule.list">>(await must(lares, "schedule.list", q));
    jobs.push(...page.jobs);
    cursor = page.cursor;
    if (!cursor) return jobs;
  }
}

async function eachOf(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < count; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}

async function must(lares: Lares, method: string, params: unknown): Promise<Record<string, unknown>> {
  const { status, json } = await post(lares, `/rpc/${method}`, params);
  if (status >= 400) throw new Error(`${method}: ${JSON.stringify(json)}`);
  return json;
}

export function saySchedules(f: ScheduleFigures): { what: string; seen: string; bar: string; ok: boolean }[] {
  const ms = (n: number) => `${Math.round(n)} ms`;
  const more = f.fullReadyMs - f.emptyReadyMs;
  return [
    {
      what: `start with ${MANY} schedules, more than without`,
      seen: `${ms(more)} (${ms(f.fullReadyMs)} against ${ms(f.emptyReadyMs)})`,
      bar: "< 1 s more",
      ok: more < 1000,
    },
    { what: "  idle CPU with them", seen: `${(f.idleShare * 100).toFixed(2)} %`, bar: "< 1 %", ok: f.idleShare < 0.01 },
    {
      what: `  fire accuracy, ${DUE} at ${A_SECOND} a second, p50 / p99 / worst`,
      seen: `${ms(f.lateP50)} / ${ms(f.lateP99)} / ${ms(f.lateWorst)}${f.missing ? `, ${f.missing} missing` : ""}`,
      bar: "p99 < 250 ms",
      ok: f.lateP99 < 250 && f.missing === 0,
    },
    { what: `  ${AT_ONCE} in one moment, p99`, seen: ms(f.atOnceP99), bar: "", ok: f.missing === 0 },
  ];
}
