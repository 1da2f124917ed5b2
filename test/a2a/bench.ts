/** What the runs against outside peers share: a stable address for a Lares that is killed, processes, and a table of what was found. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type Lares, startLares, until } from "../support/index.ts";
import { processesIn } from "../support/processes.ts";

export interface Row {
  peer: string;
  what: string;
  ms: number;
  problem?: string;
}

export class Table {
  readonly rows: Row[] = [];

  async check(peer: string, what: string, work: () => Promise<unknown>): Promise<void> {
    const began = performance.now();
    const problem = await within(work()).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const row = {
      peer,
      what,
      ms: Math.round(performance.now() - began),
      ...(problem === undefined ? {} : { problem }),
    };
    this.rows.push(row);
    process.stdout.write(`${problem === undefined ? "ok" : "FAILED"}: ${peer}: ${what} (${row.ms} ms)\n`);
    if (problem !== undefined) process.stdout.write(`${problem}\n`);
  }

  print(): number {
    const wide = (of: (row: Row) => string) => Math.max(...this.rows.map((row) => of(row).length));
    const [peers, whats] = [wide(({ peer }) => peer), wide(({ what }) => what)];
    const lines = this.rows.map(
      ({ peer, what, ms, problem }) =>
        `| ${peer.padEnd(peers)} | ${what.padEnd(whats)} | ${problem === undefined ? "ok" : "FAILED"} | ${String(ms).padStart(6)} ms |`,
    );
    const wrong = this.rows.filter(({ problem }) => problem !== undefined).length;
    process.stdout.write(
      `\n${lines.join("\n")}\n\n${this.rows.length - wrong} of ${this.rows.length} as they should be.\n`,
    );
    return wrong;
  }
}

/** The slowest of them starts OpenClaw twice. */
const LONGEST_MS = 6 * 60_000;

function within(work: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${LONGEST_MS / 60_000} minutes`)), LONGEST_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** A Lares behind an address that stays, however often it is killed. */
export interface Reachable {
  lares: Lares;
  url: string;
  close(): Promise<void>;
}

export async function startReachable(env: Record<string, string>, config: object): Promise<Reachable> {
  const lares = await startLares({ env, config });
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(new URL(lares.url).port), "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await lares.rpc("config.set", { path: "a2a.url", value: url });
  return {
    lares,
    url,
    async close() {
      await lares.dispose();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A program of somebody else's, with everything it said. */
export class Program {
  readonly child: ChildProcess;
  said = "";

  constructor(file: string, args: readonly string[], options: SpawnOptions = {}) {
    // A group of its own: what it starts ends with it.
    this.child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"], detached: true, ...options });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        this.said = `${this.said}${chunk.toString("utf8")}`.slice(-200_000);
      });
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    if (this.child.pid) process.kill(-this.child.pid, "SIGKILL");
    await gone;
  }
}

/** Until a card is there. */
export async function untilServed(url: string, program: Program, withinMs: number): Promise<void> {
  await until(
    `${url} to serve`,
    async () => {
      if (program.child.exitCode !== null)
        throw new Error(`it ended with ${program.child.exitCode}: ${program.said.slice(-2000)}`);
      return (await fetch(`${url}/.well-known/agent-card.json`).catch(() => undefined))?.ok;
    },
    { withinMs },
  );
}

/** No process works in this folder any more. */
export async function nothingLeft(folder: string): Promise<void> {
  await until(`no process in ${folder}`, () => processesIn(folder).length === 0, { withinMs: 20_000 });
}

const SESSION = "agent:main:http:owner:ana";

/** What the owner's conversation has from others: messages, results and their labels. */
export async function heard(lares: Lares): Promise<string> {
  const { messages } = await lares.rpc("chat.history", { session: SESSION });
  const parts = messages
    .filter(({ role }) => role !== "assistant")
    .flatMap(({ content }) => content as { text?: string; label?: { text: string } }[]);
  return parts.flatMap(({ text, label }) => [label?.text ?? "", text ?? ""]).join("\n");
}

export function told(lares: Lares, what: RegExp, withinMs = 60_000): Promise<unknown> {
  return until(String(what), async () => what.test(await heard(lares)), { withinMs, instead: () => heard(lares) });
}

/** The owner's agent asks a peer, as a model would. */
export function ask(lares: Lares, peer: string, message: string, more: object = {}) {
  const input = { peer, message, ...more };
  return lares.chat("ana", `tool:tool_run ${JSON.stringify({ name: "peer_ask", input })} then: say:asked`);
}

export async function openTasks(lares: Lares): Promise<number> {
  return (await lares.rpc("a2a.list", {})).peers.reduce((sum, { open }) => sum + open, 0);
}
