/** Runs the real program and the scripted model server as processes and reads what they cost. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Proc {
  child: ChildProcess;
  pid: number;
}

export interface Lares extends Proc {
  url: string;
  token: string;
  home: string;
  readyMs: number;
  readyCpuMs: number;
}

const root = new URL("../../", import.meta.url).pathname;
const TICK_MS = 10;
/** Another build can be named, as for the tests. */
const program = process.env.LARES_TEST_PROGRAM ?? join(root, "bin/lares.js");

export async function startModel(log?: string): Promise<Proc & { url: string }> {
  const args = ["--import", "tsx", join(root, "test/fakes/model-server/main.ts"), "--port", "0"];
  if (log) args.push("--log", log, "--full");
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise<string>((resolve) => {
    child.stdout!.on("data", (text: Buffer) => {
      const at = /http:\/\/\S+/.exec(text.toString())?.[0];
      if (at) resolve(at);
    });
  });
  return { child, pid: child.pid!, url };
}

export async function startLares(
  modelUrl: string,
  home = mkdtempSync(join(tmpdir(), "lares-bench-")),
  env: Record<string, string> = {},
): Promise<Lares> {
  const began = performance.now();
  const child = spawn(process.execPath, [program, "gateway", "run", "--home", home, "--port", "0"], {
    env: { PATH: process.env.PATH, HOME: home, ANTHROPIC_API_KEY: "bench", ANTHROPIC_BASE_URL: modelUrl, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  for (;;) {
    const url = noteOf(home, child.pid!);
    if (url && (await get(`${url}/readyz`).catch(() => 0)) === 200) {
      const readyMs = performance.now() - began;
      const token = readFileSync(join(home, "token"), "utf8").trim();
      return { child, pid: child.pid!, url, token, home, readyMs, readyCpuMs: cpuMs(child.pid!) };
    }
    await sleep(2);
  }
}

function noteOf(home: string, pid: number): string | undefined {
  try {
    const note = JSON.parse(readFileSync(join(home, "gateway.json"), "utf8")) as { url: string; pid: number };
    return note.pid === pid ? note.url : undefined;
  } catch {
    return undefined;
  }
}

export async function end(proc: Proc, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (proc.child.exitCode !== null || proc.child.signalCode !== null) return;
  const gone = new Promise((resolve) => proc.child.once("exit", resolve));
  proc.child.kill(signal);
  await gone;
}

export const agent = new Agent({ keepAlive: true, maxSockets: 256 });

export function post(
  lares: Lares,
  path: string,
  body: unknown,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const req = request(
      lares.url + path,
      {
        method: "POST",
        agent,
        headers: {
          authorization: `Bearer ${lares.token}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(text),
        },
      },
      (res) => {
        const parts: Buffer[] = [];
        res.on("data", (part: Buffer) => parts.push(part));
        res.on("end", () => resolve({ status: res.statusCode!, json: JSON.parse(Buffer.concat(parts).toString()) }));
      },
    );
    req.on("error", reject);
    req.end(text);
  });
}

export async function chat(lares: Lares, user: string, message: string): Promise<number> {
  const began = performance.now();
  const { status, json } = await post(lares, "/chat", { user_id: user, message });
  if (status !== 200 || json.state !== "answered")
    throw new Error(`turn not answered: ${status} ${JSON.stringify(json)}`);
  return performance.now() - began;
}

function get(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, (res) => {
      res.resume();
      resolve(res.statusCode!);
    })
      .on("error", reject)
      .end();
  });
}

export async function text(lares: Lares, path: string): Promise<string> {
  const answer = await fetch(lares.url + path, { headers: { authorization: `Bearer ${lares.token}` } });
  return answer.text();
}

/** CPU the process has used, user and system. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

export function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}

export const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export function percentile(values: number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))]!;
}
