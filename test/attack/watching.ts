/** What an attack costs the gateway: how long `/healthz` took, and how much memory the process used. */
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { EVERY_WAY, type Lares } from "../support/index.ts";

/** Between two questions. */
const ASK_EVERY_MS = 15;
/** The most a request may wait while the gateway is under attack. */
// 200 ms is the bar of `npm run test:attack`, which has the machine to itself. Beside the rest of the suite it finds hangs.
export const MOST_STALL_MS = EVERY_WAY ? 200 : 1500;

export interface Figures {
  /** The slowest answer of `/healthz` while the work ran; infinite when a request got none. */
  worstMs: number;
  answers: number;
  /** The largest resident set seen while the work ran, and the one before it. */
  peakMb: number;
  beforeMb: number;
}

export type Watched<T> = Figures & { value: T };

/** What is asked, and whose memory is looked at. */
export type Probed = Pick<Lares, "url" | "pid">;

/** Runs the work and asks `/healthz` every 15 ms, over one kept connection, as a probe would. Prints what it saw. */
export async function watched<T>(name: string, lares: Probed, work: () => Promise<T>): Promise<Watched<T>> {
  // In a thread of its own: the test's own work (a model server, 4,200 connections) must not count as the gateway's.
  const probe = new Worker(PROBE, { eval: true, workerData: { url: lares.url, pid: lares.pid, every: ASK_EVERY_MS } });
  await once(probe, "message");
  const end = async (): Promise<Figures> => {
    probe.postMessage("stop");
    const [seen] = (await once(probe, "message")) as [Figures];
    await probe.terminate();
    const { worstMs, answers, beforeMb, peakMb } = seen;
    const figures = `worst /healthz ${worstMs.toFixed(0)} ms of ${answers}, RSS ${beforeMb} → ${peakMb} MB`;
    process.stderr.write(`  ${name}: ${figures}\n`);
    return seen;
  };
  try {
    const value = await work();
    return { value, ...(await end()) };
  } catch (error) {
    await end();
    throw error;
  }
}

const PROBE = `
const { parentPort, workerData: { url, pid, every } } = require("node:worker_threads");
const { Agent, get } = require("node:http");
const { readFileSync } = require("node:fs");
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const rss = () => {
  try { return Math.round(Number(/VmRSS:\\s+(\\d+)/.exec(readFileSync("/proc/" + pid + "/status", "utf8"))[1]) / 1024); } catch { return 0; }
};
const ask = () => new Promise((resolve) => {
  const request = get(url + "/healthz", { agent, timeout: 20000 }, (response) => {
    response.resume();
    response.once("end", () => resolve(true));
  });
  request.once("timeout", () => request.destroy());
  request.once("error", () => resolve(false));
});
const seen = { worstMs: 0, answers: 0, beforeMb: rss(), peakMb: rss() };
let over = false;
parentPort.once("message", () => { over = true; });
(async () => {
  await ask();
  parentPort.postMessage("ready");
  while (!over) {
    const began = performance.now();
    // A kept connection may end between two questions; twice is no answer. A gateway that is gone must not pass for a quick one.
    const isAnswered = (await ask()) || (await ask());
    seen.worstMs = Math.max(seen.worstMs, isAnswered ? performance.now() - began : Infinity);
    seen.answers++;
    seen.peakMb = Math.max(seen.peakMb, rss());
    await new Promise((resolve) => setTimeout(resolve, every));
  }
  agent.destroy();
  parentPort.postMessage(seen);
})();
`;

/**
 * The allowed stall on this machine now: 200 ms where the gateway has a processor to itself. On a busy machine the same work takes
 * longer by the clock, so the bound grows with what a second of work takes here, and with how late an idle gateway answers.
 */
export async function allowedStall(lares: Probed): Promise<number> {
  const { worstMs } = await watched("  idle", lares, () => pause(1000));
  const busy = slowness();
  const most = stallBar(MOST_STALL_MS, { busy, idleMs: worstMs });
  process.stderr.write(
    `    allowed here: ${most.toFixed(0)} ms (this machine is ${busy.toFixed(1)} times slower now)\n`,
  );
  return most;
}

/** A machine that does its work in time, and whose idle gateway answers at once, has no excuse. */
export function stallBar(bar: number, { busy, idleMs }: { busy: number; idleMs: number }): number {
  const isQuiet = busy < 1.2 && idleMs < 50;
  return isQuiet ? bar : bar * busy + idleMs;
}

/** Time by the clock for each unit of processor time. */
function slowness(): number {
  const began = performance.now();
  const before = process.cpuUsage();
  for (;;) {
    for (let i = 0; i < 1e6; i++);
    const { user, system } = process.cpuUsage(before);
    const cpuMs = (user + system) / 1000;
    if (cpuMs > 200) return Math.min(10, Math.max(1, (performance.now() - began) / cpuMs));
  }
}
