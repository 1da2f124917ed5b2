/**
 * What Lares adds to a turn of a real runtime: the same turn by the program alone and by an agent whose body it is, both on the scripted model
 * at zero delay, in turns, so that both see the same machine. Each is a process of its own, as Lares has one for each run; with Lares
 * come the sandbox, the model proxy, the records on the disk and the answer.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Follower, makeRequest } from "../contracts/runtime/rig.ts";
import { startModelServer } from "../fakes/model-server/index.ts";
import { BARE, runBare } from "../runtimes/bare.ts";
import { type InstalledRuntime, RUNTIMES } from "../runtimes/installed.ts";
import { TAG, WholeLares } from "../runtimes/whole/lares.ts";
import { processesTagged } from "../support/processes.ts";
import { cpuMs, percentile, rssMb } from "./process.ts";

export interface RuntimeFigures {
  runtime: string;
  /** Ms of a turn, and of CPU of everything that it starts, by the program alone. */
  bare: { ms: number[]; cpu: number };
  /** The same with Lares; `own`: what of it is Lares' own process. */
  whole: { ms: number[]; cpu: number; own: number };
  /** MB while a run waits for a person: of its processes, and what Lares has more than before. */
  idle: { tree: number; own: number };
  /** Ms from `open` to the first event. */
  first: number[];
}

const TURNS = 5;

export async function benchRuntimes(say: (line: string) => void): Promise<RuntimeFigures[]> {
  const found: RuntimeFigures[] = [];
  for (const { name, install } of RUNTIMES.filter((one) => BARE.includes(one.name))) {
    say(`  ${name}: ${TURNS} turns by itself and with Lares`);
    found.push(await benchOne(name, install()));
  }
  return found;
}

async function benchOne(runtime: string, installed: InstalledRuntime): Promise<RuntimeFigures> {
  const body = await installed.body();
  const dir = mkdtempSync(join(tmpdir(), "lares-bare-"));
  const model = await startModelServer({ keep: false, script: () => ({ text: "A short answer." }) });
  const whole = await WholeLares.open([body]);
  const { lares } = whole;
  const alone = () => runBare(runtime, { program: body.program!.path, dir, modelUrl: model.url, text: "hello" });
  const withLares = async () => {
    const began = performance.now();
    const { state, reason } = await lares.chat("ana", "hello", { agent: runtime });
    if (state !== "answered") throw new Error(`${runtime} with Lares: ${state}, ${reason}`);
    return performance.now() - began;
  };
  try {
    await alone();
    await withLares();
    const bare = { ms: [] as number[], cpu: 0 };
    const with_ = { ms: [] as number[], cpu: 0, own: 0 };
    for (let i = 0; i < TURNS; i++) {
      const self = childrenCpuMs(process.pid);
      bare.ms.push(await alone());
      bare.cpu += (childrenCpuMs(process.pid) - self) / TURNS;
      const [own, children] = [cpuMs(lares.pid), childrenCpuMs(lares.pid)];
      with_.ms.push(await withLares());
      const added = cpuMs(lares.pid) - own;
      with_.own += added / TURNS;
      with_.cpu += (added + childrenCpuMs(lares.pid) - children) / TURNS;
    }
    const idle = await weighIdle(whole, body);
    return { runtime, bare, whole: with_, idle, first: await firstEvents(installed) };
  } finally {
    await whole.close();
    await model.close();
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function weighIdle(whole: WholeLares, body: Parameters<WholeLares["give"]>[1]) {
  const before = rssMb(whole.lares.pid);
  const task = await whole.give("task-idle", body);
  await whole.reach(task, "asking", 0);
  const tree = processesTagged(TAG, task.turn).reduce((sum, pid) => sum + rssMb(pid), 0);
  const own = rssMb(whole.lares.pid) - before;
  whole.letGo();
  await whole.settle(task);
  return { tree, own };
}

async function firstEvents({ openStage }: InstalledRuntime): Promise<number[]> {
  const stage = await openStage();
  const took: number[] = [];
  try {
    for (let i = 0; i < TURNS; i++) {
      const request = makeRequest(stage, stage.prompts.say("hello"));
      const ports = await stage.ports(request.run);
      const began = performance.now();
      const session = await stage.adapter.open(request, ports, new AbortController().signal);
      const follower = new Follower(session, 0);
      await follower.first("run_started");
      took.push(performance.now() - began);
      await follower.ended;
      await session.close();
    }
  } finally {
    await stage.close();
  }
  return took;
}

/** CPU of the children that have ended, and of theirs. */
function childrenCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

export function sayRuntimes(all: readonly RuntimeFigures[]): { what: string; seen: string; bar: string }[] {
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  return all.flatMap(({ runtime, bare, whole, idle, first }) => {
    const [alone, together] = [percentile(bare.ms, 50), percentile(whole.ms, 50)];
    const rows: [string, string][] = [
      ["a turn by itself, p50 (CPU)", `${ms(alone)} (${ms(bare.cpu)})`],
      ["a turn with Lares, p50 (CPU)", `${ms(together)} (${ms(whole.cpu)})`],
      [
        "added by Lares: time, CPU of all / of Lares itself",
        `${ms(together - alone)}, ${ms(whole.cpu - bare.cpu)} / ${ms(whole.own)}`,
      ],
      [
        "a run that waits for a person: its processes / Lares",
        `${idle.tree.toFixed(0)} MB / ${idle.own.toFixed(1)} MB`,
      ],
      ["first event after open, p50 / slowest", `${ms(percentile(first, 50))} / ${ms(percentile(first, 100))}`],
    ];
    return rows.map(([what, seen]) => ({ what: `${runtime}: ${what}`, seen, bar: "" }));
  });
}
