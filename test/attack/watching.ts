/** What an attack costs the gateway: how long `/healthz` took, and how much memory the process used. */
import { readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { Lares } from "../support/index.ts";

/** Between two questions. */
const ASK_EVERY_MS = 15;
/** The most a request may wait while the gateway is under attack. */
export const MOST_STALL_MS = 200;

export interface Watched<T> {
  value: T;
  /** The slowest answer of `/healthz` while the work ran. */
  worstMs: number;
  answers: number;
  /** The largest resident set seen while the work ran, and the one before it. */
  peakMb: number;
  beforeMb: number;
}

/** Runs the work and asks `/healthz` every 15 ms, over one kept connection, as a probe would. Prints what it saw. */
export async function watched<T>(name: string, lares: Lares, work: () => Promise<T>): Promise<Watched<T>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const beforeMb = rssMb(lares.pid);
  let peakMb = beforeMb;
  let worstMs = 0;
  let answers = 0;
  let over = false;
  const asking = (async () => {
    while (!over) {
      const began = performance.now();
      await ask(lares.url, agent);
      worstMs = Math.max(worstMs, performance.now() - began);
      answers++;
      peakMb = Math.max(peakMb, rssMb(lares.pid));
      await pause(ASK_EVERY_MS);
    }
  })();
  try {
    const value = await work();
    return { value, worstMs, answers, peakMb, beforeMb };
  } finally {
    over = true;
    await asking.catch(() => {});
    agent.destroy();
    const figures = `worst /healthz ${worstMs.toFixed(0)} ms of ${answers}, RSS ${beforeMb} → ${peakMb} MB`;
    process.stderr.write(`  ${name}: ${figures}\n`);
  }
}

/**
 * The allowed stall on this machine now: 200 ms where it is idle. On a busy one a process that does nothing is late too, so the
 * time is measured against the worst answer of the same gateway before the attack.
 */
export async function allowedStall(lares: Lares): Promise<number> {
  const { worstMs } = await watched("  idle", lares, () => pause(1500));
  return MOST_STALL_MS + worstMs;
}

export function rssMb(pid: number): number {
  try {
    const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Math.round(Number(kb ?? 0) / 1024);
  } catch {
    return 0;
  }
}

function ask(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(`${url}/healthz`, { agent, timeout: 20_000 }, (response) => {
      response.resume();
      response.once("end", resolve);
    });
    request.once("timeout", () => request.destroy(new Error("/healthz did not answer for 20 s")));
    request.once("error", reject);
  });
}
