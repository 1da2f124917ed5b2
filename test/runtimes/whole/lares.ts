/**
 * The whole program with real runtimes as bodies of its agents, in front of the scripted model: what a person has, killed and started
 * again. Commands are asked about, and somebody says yes.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ModelServer, startModelServer } from "../../fakes/model-server/index.ts";
import { Lares, until } from "../../support/index.ts";
import { processesIn, processesTagged, readProc } from "../../support/processes.ts";
import { allProviders } from "../proxy-world.ts";
import { askFor, begunWith, doneWith, markOf, TaskModel } from "./model.ts";

/** A runtime as somebody has installed it. */
export interface RealBody {
  runtime: string;
  /** `provider/model` for it; its own where it calls its models itself. */
  model?: string;
  /** Its program: linked into ~/.local/bin under this name. */
  program?: { name: string; path: string };
  /** A daemon: its settings, where it works, and its model. */
  daemon?: { settings: object; work: string; model: ModelServer };
}

/** Where a run is when Lares is killed. */
export const PHASES = ["starting", "writing", "asking", "acting", "finishing"] as const;
export type Phase = (typeof PHASES)[number];

export interface GivenTask {
  name: string;
  body: RealBody;
  turn: string;
  session: string;
}

export const TAG = "LARES_RUN";
export const ATTEMPT = "LARES_ATTEMPT";
/** A cold start on a busy machine, several of them at once. */
const PATIENCE = { withinMs: 600_000 };
const ENDED = new Set(["answered", "failed", "declined", "stopped", "handed-over"]);

export class WholeLares {
  readonly lares: Lares;
  readonly model: TaskModel;
  private readonly dir: string;
  private readonly server: ModelServer;
  /** Sessions whose questions wait. */
  private readonly held = new Set<string>();
  private answering = true;
  private readonly answers: Promise<void>;
  /** Commands that somebody said yes to, by session. */
  readonly allowed = new Map<string, number>();

  private constructor(given: { lares: Lares; model: TaskModel; dir: string; server: ModelServer }) {
    this.lares = given.lares;
    this.model = given.model;
    this.dir = given.dir;
    this.server = given.server;
    this.answers = this.answerAll();
  }

  static async open(bodies: readonly RealBody[]): Promise<WholeLares> {
    // Not in memory: the sandbox of a runtime has another /dev.
    const dir = mkdtempSync(join(tmpdir(), "lares-whole-"));
    const userHome = join(dir, "user");
    const bin = join(userHome, ".local", "bin");
    mkdirSync(bin, { recursive: true });
    const model = new TaskModel();
    const server = await startModelServer({ keep: false, script: (request) => model.reply(request) });
    for (const { program, daemon } of bodies) {
      if (program) symlinkSync(program.path, join(bin, program.name));
      if (!daemon) continue;
      mkdirSync(join(userHome, ".openclaw"));
      writeFileSync(join(userHome, ".openclaw", "openclaw.json"), JSON.stringify(daemon.settings));
      daemon.model.use((request) => model.reply(request));
    }
    const agents = bodies.map(({ runtime, model: own }) => [runtime, { runtime, ...(own ? { model: own } : {}) }]);
    const lares = new Lares({
      home: join(dir, "home"),
      env: { HOME: userHome },
      config: {
        agents: Object.fromEntries(agents),
        models: allProviders(server.url),
        budgets: { perDay: { dollars: 1_000_000 } },
        policy: { mode: "ask" },
      },
    });
    await startPatiently(lares);
    return new WholeLares({ lares, model, dir, server });
  }

  /** The message is accepted when this resolves. */
  async give(name: string, body: RealBody): Promise<GivenTask> {
    const message = askFor(name);
    const sent = { message, user: "ana", agent: body.runtime, wait: false, idempotencyKey: name };
    const { turn, session } = await this.lares.rpc("chat.send", sent);
    return { name, body, turn, session };
  }

  /** Questions of this task wait until they are let go. */
  hold({ session }: Pick<GivenTask, "session">): void {
    this.held.add(session);
  }

  letGo(): void {
    this.held.clear();
  }

  /** Resolves in the middle of this phase; `delayMs` later where it lasts. */
  async reach(task: GivenTask, phase: Phase, delayMs: number): Promise<void> {
    const { body, turn, session, name } = task;
    const before = this.allowed.get(session) ?? 0;
    if (phase === "asking") this.hold(task);
    const looks: Record<Phase, () => boolean | Promise<boolean>> = {
      starting: async () =>
        body.daemon ? (await this.stateOf(turn)) === "running" : processesTagged(TAG, turn).length > 0,
      writing: () => this.model.isAsked(name, "acts"),
      asking: async () => (await this.pending()).some((one) => one.session === session),
      acting: () =>
        body.daemon ? (this.allowed.get(session) ?? 0) > before : existsSync(join(this.workOf(body), begunWith(name))),
      finishing: () => this.model.isAsked(name, "ends"),
    };
    await until(`${body.runtime} to be ${phase}`, looks[phase], {
      ...PATIENCE,
      instead: () => this.lares.rpc("turns.get", { turn }),
    });
    if (phase !== "asking") await new Promise((resolve) => setTimeout(resolve, delayMs));
  }

  /** Another life on the same home, after `kill -9`. */
  async kill(): Promise<void> {
    await this.lares.kill9();
    await startPatiently(this.lares);
  }

  /** How a task ended, when it has. */
  async settle({ turn }: GivenTask): Promise<{ state: string; response: string; reason: string }> {
    const {
      state,
      response = "",
      reason = "",
    } = await until(
      `the end of ${turn}`,
      async () => {
        const found = await this.lares.rpc("turns.get", { turn });
        return ENDED.has(found.state) ? found : undefined;
      },
      { ...PATIENCE, instead: () => this.lares.rpc("turns.get", { turn }) },
    );
    return { state, response, reason };
  }

  /** What is wrong with a task that has ended, in words. */
  async judge(task: GivenTask): Promise<{ lost: string[]; doubled: string[] }> {
    const { name, body, session } = task;
    const { state, response, reason } = await this.settle(task);
    const marks = this.marksOf(task);
    const { messages } = await this.lares.rpc("chat.history", { session, limit: 1000 });
    const told = messages.filter((one) => one.role === "assistant" && JSON.stringify(one).includes(doneWith(name)));
    const asked = messages.filter((one) => one.role === "user" && JSON.stringify(one).includes(askFor(name)));
    const about = `${body.runtime}, ${name}`;
    const lost: string[] = [];
    const doubled: string[] = [];
    if (state !== "answered") lost.push(`${about}: it ended as ${state}: ${reason}`);
    else if (!response.includes(doneWith(name))) lost.push(`${about}: the answer is "${response}"`);
    if (marks === 0) lost.push(`${about}: it left no mark`);
    if (told.length === 0 || asked.length === 0) lost.push(`${about}: it isn't in the conversation`);
    if (marks > 1) doubled.push(`${about}: it left ${marks} marks`);
    if (told.length > 1 || asked.length > 1) doubled.push(`${about}: ${asked.length} requests, ${told.length} answers`);
    if (response.split(doneWith(name)).length > 2) doubled.push(`${about}: it was answered twice`);
    return { lost, doubled };
  }

  marksOf({ name, body }: Pick<GivenTask, "name" | "body">): number {
    return readdirSync(this.workOf(body)).filter((file) => file.startsWith(markOf(name))).length;
  }

  /** Processes of these tasks, and everything that works in the home. */
  left(tasks: readonly GivenTask[]): string[] {
    const tagged = tasks.flatMap(({ turn, body }) =>
      processesTagged(TAG, turn).map((pid) => `${body.runtime}: the process ${pid}, ${sayCommand(pid)}`),
    );
    return [...tagged, ...processesIn(this.lares.home).map((pid) => `the process ${pid}, ${sayCommand(pid)}`)];
  }

  async close(): Promise<void> {
    this.answering = false;
    await this.answers;
    await this.lares.stop();
    await this.server.close();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 3 });
  }

  private workOf({ runtime, daemon }: RealBody): string {
    const work = daemon?.work ?? this.lares.workspace(runtime);
    mkdirSync(work, { recursive: true });
    return work;
  }

  private async stateOf(turn: string): Promise<string> {
    return (await this.lares.rpc("turns.get", { turn })).state;
  }

  private async pending() {
    return (await this.lares.rpc("approvals.list", { state: "pending" })).approvals;
  }

  /** A person who says yes to everything that isn't held. Lares may be gone meanwhile. */
  private async answerAll(): Promise<void> {
    while (this.answering) {
      const open = await this.pending().catch(() => []);
      for (const { id, session } of open.filter((one) => !this.held.has(one.session))) {
        const isTaken = await this.lares.rpc("approvals.resolve", { id, decision: "allow-once" }).then(
          () => true,
          () => false,
        );
        if (isTaken) this.allowed.set(session, (this.allowed.get(session) ?? 0) + 1);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function startPatiently(lares: Lares): Promise<void> {
  lares.spawn();
  await lares.ready(PATIENCE.withinMs);
}

function sayCommand(pid: number): string {
  return readProc(`${pid}/cmdline`).split("\0").join(" ").slice(0, 120);
}
