/**
 * 10,000 turns that wait for a person: what they cost in memory, and how long it takes until all have heard "no". The real program
 * and the scripted model server; one session a turn, as with 10,000 people.
 *
 *   tsx test/bench/approvals.ts [count]     alone
 *   npm run bench -- --approvals            beside the other figures
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import { cpuMs, end, type Lares, percentile, post, rssMb, sleep, startLares, startModel } from "./process.ts";

export interface ApprovalFigures {
  count: number;
  /** Of the whole process: fresh and warm, with everything parked, and after all was answered. */
  rssBefore: number;
  rssParked: number;
  rssAfter: number;
  /** A new process on the same home. */
  rssRestarted: number;
  /** And a new process on a home where nothing waits. */
  rssFresh: number;
  readyMs: number;
  parkMs: number;
  /** Until every answer was taken durably, and until every turn had called its model and ended. */
  takenMs: number;
  releaseMs: number;
  /** One question among all the others. */
  listMs: number;
  resolveP50: number;
  resolveP95: number;
  cpuPerTurn: number;
}

const AT_ONCE = 64;
const WARM = 300;
const QUIET_MS = 1000;

export async function benchApprovals(count = 10_000): Promise<ApprovalFigures> {
  const model = await startModel();
  const home = mkdtempSync(join(tmpdir(), "lares-bench-"));
  // A refused call would be a turn that costs nothing.
  writeFileSync(join(home, "lares.yaml"), JSON.stringify({ budgets: { perDay: { dollars: 1_000_000 } } }));
  let lares = await startLares(model.url, home);
  try {
    // Warm with what is measured: code, caches and pools are there before the first figure.
    const rssFresh = await settled(lares);
    await park(lares, "warm", WARM);
    await release(lares, WARM);
    const rssBefore = await settled(lares);
    let began = performance.now();
    await park(lares, "bench", count);
    const parkMs = performance.now() - began;
    const rssParked = await settled(lares);
    began = performance.now();
    await post(lares, "/rpc/approvals.list", {});
    const listMs = performance.now() - began;

    await end(lares, "SIGKILL");
    lares = await startLares(model.url, home);
    const { readyMs } = lares;
    const rssRestarted = await settled(lares);
    const cpu = cpuMs(lares.pid);

    began = performance.now();
    const { times, takenMs } = await release(lares, count);
    const releaseMs = performance.now() - began;
    await allAnswered(lares, WARM + count);
    return {
      ...{ count, rssFresh, rssBefore, rssParked, rssRestarted, readyMs, parkMs, releaseMs, takenMs, listMs },
      rssAfter: await settled(lares),
      resolveP50: percentile(times, 50),
      resolveP95: percentile(times, 95),
      cpuPerTurn: (cpuMs(lares.pid) - cpu) / count,
    };
  } finally {
    await end(lares);
    await end(model);
    rmSync(home, { recursive: true, force: true });
  }
}

/** Everything is sent, then everything waits for a person. */
async function park(lares: Lares, name: string, count: number): Promise<void> {
  const before = (await status(lares)).pending;
  await each(count, async (i) => {
    const message = 'tool:exec {"command":"touch x"} then: say:done';
    const { status: code, json } = await post(lares, "/rpc/chat.send", { user: `${name}-${i}`, message, wait: false });
    if (code !== 200) throw new Error(`not taken: ${code} ${JSON.stringify(json)}`);
  });
  while ((await status(lares)).pending < before + count) await sleep(50);
}

/** Denies everything that waits; resolves when every turn has ended. Also how long each answer took. */
async function release(lares: Lares, count: number): Promise<{ times: number[]; takenMs: number }> {
  const times: number[] = [];
  const start = performance.now();
  for (let left = count; left > 0; ) {
    const { json } = await post(lares, "/rpc/approvals.list", { limit: 1000 });
    const ids = (json.approvals as { id: string }[]).map((one) => one.id);
    if (!ids.length) throw new Error(`${left} approvals are missing`);
    await each(ids.length, async (i) => {
      const began = performance.now();
      const { status: code } = await post(lares, "/rpc/approvals.resolve", { id: ids[i]!, decision: "deny" });
      if (code !== 200) throw new Error(`not taken: ${code}`);
      times.push(performance.now() - began);
    });
    left -= ids.length;
  }
  const takenMs = performance.now() - start;
  for (;;) {
    const { open } = await status(lares);
    if (open === 0) return { times, takenMs };
    await sleep(20);
  }
}

/** Every turn heard "no", called the model and said something: otherwise the figures are of something else. */
async function allAnswered(lares: Lares, count: number): Promise<void> {
  const answer = await fetch(`${lares.url}/metrics`, { headers: { authorization: `Bearer ${lares.token}` } });
  const lines = (await answer.text()).split("\n").filter((line) => line.startsWith("lares_turns{"));
  if (lines.length !== 1 || !lines[0]!.endsWith(`state="answered"} ${count}`))
    throw new Error(`not all ${count} turns were answered: ${lines.join(", ")}`);
}

async function status(lares: Lares): Promise<{ pending: number; open: number }> {
  const { json } = await post(lares, "/rpc/status", {});
  const { turns, approvals } = json as {
    turns: { queued: number; running: number; parked: number };
    approvals: { pending: number };
  };
  return { pending: approvals.pending, open: turns.queued + turns.running + turns.parked };
}

/** Resident memory without garbage: V8 lets that lie for as long as there is room, which says nothing about what is held. */
async function settled(lares: Lares): Promise<number> {
  await sleep(QUIET_MS);
  for (let i = 0; i < 2; i++) await collectGarbage(lares.pid);
  await sleep(QUIET_MS);
  return rssMb(lares.pid);
}

/** Through the inspector, which a signal opens on its usual port. */
async function collectGarbage(pid: number): Promise<void> {
  process.kill(pid, "SIGUSR1");
  let url: string | undefined;
  while (!url) {
    const answer = await fetch("http://127.0.0.1:9229/json/list").catch(() => undefined);
    const [target] = ((await answer?.json()) ?? []) as { webSocketDebuggerUrl: string }[];
    url = target?.webSocketDebuggerUrl;
    if (!url) await sleep(20);
  }
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const done = new Promise((resolve) => socket.once("message", resolve));
  socket.send(JSON.stringify({ id: 1, method: "HeapProfiler.collectGarbage" }));
  await done;
  socket.close();
}

async function each(count: number, act: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

export function sayApprovals(
  f: ApprovalFigures,
): { what: string; seen: string; bar: string; ok: boolean | undefined }[] {
  const s = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const mb = (value: number) => `${value.toFixed(0)} MB`;
  const n = f.count.toLocaleString("en");
  const cost = f.rssParked - f.rssBefore;
  return [
    {
      what: `${n} approvals pending: memory`,
      seen: `+${mb(cost)} (${mb(f.rssBefore)} → ${mb(f.rssParked)}; a new process ${mb(f.rssFresh)} without, ${mb(f.rssRestarted)} with them)`,
      bar: "≤ 50 MB",
      ok: cost <= 50,
    },
    {
      what: `${n} answered: until all turns ended`,
      seen: `${s(f.releaseMs)} (all answers taken: ${s(f.takenMs)}), answer p50 ${f.resolveP50.toFixed(0)} ms, p95 ${f.resolveP95.toFixed(0)} ms`,
      bar: "seconds",
      ok: f.releaseMs <= 60_000,
    },
    { what: "  parking them", seen: `${s(f.parkMs)}`, bar: "", ok: undefined },
    { what: "  start → ready with them", seen: `${f.readyMs.toFixed(0)} ms`, bar: "≤ 1 s", ok: f.readyMs <= 1000 },
    { what: "  approvals.list among them", seen: `${f.listMs.toFixed(0)} ms`, bar: "", ok: undefined },
    { what: "  memory after all ended", seen: mb(f.rssAfter), bar: "", ok: undefined },
    { what: "  CPU per answered turn", seen: `${f.cpuPerTurn.toFixed(1)} ms`, bar: "", ok: undefined },
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const figures = await benchApprovals(Number(process.argv[2] ?? 10_000));
  for (const { what, seen, bar, ok } of sayApprovals(figures)) {
    process.stdout.write(`${what.padEnd(44)} ${seen}${bar ? `  (${bar}${ok === false ? ", MISSED" : ""})` : ""}\n`);
  }
}
