/** The official Python SDK as a peer, in both directions: an implementation that shares no code with ours. */
import { strict as assert } from "node:assert";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { scratch, until } from "../support/index.ts";
import type { ModelProcess } from "../support/model.ts";
import {
  ask,
  freePort,
  heard,
  nothingLeft,
  openTasks,
  Program,
  type Reachable,
  startReachable,
  type Table,
  told,
  untilServed,
} from "./bench.ts";

const SCRIPT = fileURLToPath(new URL("./peer.py", import.meta.url));
/** Where its processes work: what is left of them is found there. */
const FOLDER = scratch("a2a-python");
const TOKEN = "token-of-the-python-agent";
type Binding = "JSONRPC" | "HTTP+JSON";

interface Happened {
  task?: FarTask;
  statusUpdate?: { taskId: string; status: FarTask["status"] };
  artifactUpdate?: { artifact: { parts: { text: string }[] }; append?: boolean; lastChunk?: boolean };
}
interface FarTask {
  id: string;
  contextId: string;
  status: { state: string; message?: { parts: { text: string }[] } };
  artifacts?: { parts: { text: string }[] }[];
}
interface Ran<T> {
  events: T[];
  /** Undefined when it went well. */
  why?: string;
}

/** The SDK's client, as a process that is asked over a pipe. */
class Driver {
  readonly program: Program;
  private count = 0;
  private readonly waiting = new Map<number, { events: object[]; done: (ran: Ran<object>) => void }>();
  private readonly isReady: Promise<void>;

  constructor(python: string, url: string, token: string, binding: Binding) {
    this.program = new Program(python, [SCRIPT, "drive", url, token, binding], { cwd: FOLDER });
    this.isReady = new Promise((resolve, reject) => {
      this.program.child.once("exit", (code) =>
        reject(new Error(`the client ended with ${code}: ${this.program.said}`)),
      );
      this.program.child.once("exit", () => {
        for (const { events, done } of this.waiting.values()) done({ events, why: "the client ended" });
      });
      createInterface({ input: this.program.child.stdout! }).on("line", (line) => {
        const said = JSON.parse(line) as { ready?: true; id: number; event?: object; end?: string; why?: string };
        if (said.ready) return resolve();
        const one = this.waiting.get(said.id)!;
        if (said.event) one.events.push(said.event);
        if (said.end) this.waiting.delete(said.id);
        if (said.end) one.done({ events: one.events, ...(said.why ? { why: said.why } : {}) });
      });
    });
  }

  async run<T extends object = Happened>(op: string, more: object = {}): Promise<Ran<T>> {
    return (await this.begin<T>(op, more)).end;
  }

  /** Goes on while something else happens; `events` are those that came so far. */
  async begin<T extends object = Happened>(
    op: string,
    more: object = {},
  ): Promise<{ events: T[]; end: Promise<Ran<T>> }> {
    await this.isReady;
    const id = ++this.count;
    const events: T[] = [];
    const end = new Promise<Ran<T>>((resolve) => {
      this.waiting.set(id, { events, done: (ran) => resolve(ran as Ran<T>) });
    });
    this.program.child.stdin!.write(`${JSON.stringify({ id, op, ...more })}\n`);
    return { events, end };
  }

  async task(op: "get" | "cancel", task: string): Promise<FarTask> {
    const { events, why } = await this.run<FarTask>(op, { task });
    if (why) throw new Error(why);
    return events[0]!;
  }
}

export async function tryPython(table: Table, python: string, model: ModelProcess): Promise<void> {
  for (const binding of ["JSONRPC", "HTTP+JSON"] as const) await asksLares(table, python, model, binding);
  await isAskedByLares(table, python, model);
  await table.check("Python SDK", "leftovers: no process", () => nothingLeft(FOLDER));
}

async function asksLares(table: Table, python: string, model: ModelProcess, binding: Binding): Promise<void> {
  const at = await startReachable(model.env, {});
  const { lares, url } = at;
  const { token } = await lares.rpc("tokens.create", { name: "python", scopes: ["peer"] });
  const drivers: Driver[] = [];
  const connect = () => {
    const driver = new Driver(python, url, token, binding);
    drivers.push(driver);
    return driver;
  };
  const far = connect();
  const check = (what: string, work: () => Promise<unknown>) =>
    table.check(`Python SDK → Lares, ${binding}`, what, work);
  const state = async (task: string) => (await far.task("get", task)).status.state;
  await check("a message is answered", async () => {
    const { events, why } = await far.run("send", { message: "m1", text: "say:Good morning" });
    assert.equal(why, undefined);
    assert.deepEqual(answer(events), { state: "TASK_STATE_COMPLETED", text: "Good morning" });
  });
  await check("a stream has the task, the answer and the end", async () => {
    const { events } = await far.run("stream", { message: "m2", text: "gap:50 say:streamed" });
    assert.deepEqual(
      events.map((event) => Object.keys(event)[0]),
      ["task", "artifactUpdate", "statusUpdate"],
    );
    assert.deepEqual(answer(events), { state: "TASK_STATE_COMPLETED", text: "streamed" });
  });
  await check("a long answer arrives whole", async () => {
    const long = `${"pläne ".repeat(15_000)}end`;
    const { events } = await far.run("stream", { message: "m3", text: `say:${long}` });
    assert.equal(answer(events).text, long);
  });
  await check("input required, the owner allows it, and it is answered", async () => {
    const text = 'tool:web_fetch {"url":"https://nowhere.invalid/"} then: say:went on';
    const { events } = await far.run("stream", { message: "m4", text });
    assert.equal(answer(events).state, "TASK_STATE_INPUT_REQUIRED");
    const task = events[0]!.task!.id;
    const { why } = await far.run("send", { message: "m5", text: "yes", task });
    assert.match(why ?? "", /can't make it/);
    const [question] = (await lares.rpc("approvals.list", {})).approvals;
    await lares.rpc("approvals.resolve", { id: question!.id, decision: "allow-once" });
    await until("the end", async () => (await state(task)) === "TASK_STATE_COMPLETED", { withinMs: 60_000 });
    assert.equal((await far.task("get", task)).artifacts?.[0]?.parts[0]?.text, "went on");
  });
  await check("a task is cancelled while it runs", async () => {
    const { events } = await far.run("send", { message: "m6", text: "delay:60000 say:never", now: true });
    const task = events[0]!.task!.id;
    await until("a start", async () => (await state(task)) === "TASK_STATE_WORKING");
    assert.equal((await far.task("cancel", task)).status.state, "TASK_STATE_CANCELED");
  });
  await check("kill -9 in the middle of a stream: the same message and a new stream find the task", () =>
    killed(at, far, connect),
  );
  await check("push notifications aren't claimed, and are refused", async () => {
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as { capabilities: object };
    assert.deepEqual(
      { ...card.capabilities, extensions: 0 },
      { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: 0 },
    );
    const { why } = await far.run("send", { message: "m8", text: "say:x", push: "http://127.0.0.1:1/" });
    assert.match(why ?? "", /push/i);
  });
  await check("tasks are there after a restart", async () => {
    await lares.restart();
    const { events, why } = await connect().run<{ tasks: FarTask[] }>("list");
    assert.equal(why, undefined);
    assert.equal(events[0]!.tasks.length, 6);
  });
  for (const driver of drivers) await driver.program.kill();
  await at.close();
}

async function killed({ lares }: Reachable, far: Driver, connect: () => Driver): Promise<void> {
  const text = "delay:4000 say:once";
  const before = (await lares.rpc("turns.list", {})).turns.length;
  const broken = await far.begin("stream", { message: "m7", text });
  const task = (await until("its first event", () => broken.events[0]?.task)).id;
  await lares.restart();
  assert.notEqual((await broken.end).events.at(-1)?.statusUpdate?.status.state, "TASK_STATE_COMPLETED");
  const again = connect();
  const resumed = await again.run("subscribe", { task });
  assert.equal(resumed.why, undefined);
  assert.deepEqual(answer(resumed.events), { state: "TASK_STATE_COMPLETED", text: "once" });
  const repeated = await again.run("send", { message: "m7", text });
  assert.equal(repeated.events[0]!.task!.id, task);
  assert.equal((await lares.rpc("turns.list", {})).turns.length, before + 1);
}

async function isAskedByLares(table: Table, python: string, model: ModelProcess): Promise<void> {
  const at = await startReachable(model.env, { policy: { allow: { peer_ask: ["*"] } } });
  const { lares } = at;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const start = async () => {
    const agent = new Program(python, [SCRIPT, "serve", String(port), TOKEN], { cwd: FOLDER });
    await untilServed(url, agent, 60_000);
    return agent;
  };
  let agent = await start();
  const check = (what: string, work: () => Promise<unknown>) => table.check("Lares → Python SDK", what, work);
  await check("the card is shown and accepted", async () => {
    const { card } = await lares.rpc("a2a.add", { name: "python", url, token: TOKEN });
    assert.match(card, /Python agent/);
  });
  await check("an answer comes as a message", async () => {
    await ask(lares, "python", "plums");
    await told(lares, /> thanks for plums/);
  });
  await check("its question is answered in the same task", async () => {
    await ask(lares, "python", "ask:Which city?");
    await told(lares, /> Which city\?/);
    const task = /python asks something[^\n]*task (hire-[\w-]+)/.exec(await heard(lares))![1]!;
    await ask(lares, "python", "Rome", { task });
    await told(lares, /thanks for Rome/);
  });
  await check("/stop cancels it there", async () => {
    await ask(lares, "python", "wait");
    const driver = new Driver(python, url, TOKEN, "JSONRPC");
    const states = async () => {
      const { events } = await driver.run<{ tasks: FarTask[] }>("list");
      return events[0]!.tasks.map(({ status }) => status.state);
    };
    await until("the work", async () => (await states()).includes("TASK_STATE_WORKING"));
    await lares.chat("ana", "/stop");
    await until("the cancellation", async () => (await states()).includes("TASK_STATE_CANCELED"));
    await driver.program.kill();
  });
  await check("kill -9 of the gateway while it works: the answer comes once", async () => {
    await ask(lares, "python", "figs");
    await lares.restart();
    await told(lares, /> thanks for figs/);
    assert.equal((await heard(lares)).match(/> thanks for figs/g)?.length, 1);
  });
  await check("it is killed and forgets its tasks: the conversation learns it", async () => {
    await ask(lares, "python", "wait");
    await agent.kill();
    agent = await start();
    await told(lares, /python no longer knows "wait"/, 120_000);
  });
  await check("leftovers: no open task", async () => assert.equal(await openTasks(lares), 0));
  await agent.kill();
  await at.close();
}

/** Where a stream or an answer ended, and its words. */
function answer(events: readonly Happened[]): { state: string; text: string } {
  let [state, text] = ["", ""];
  for (const { task, statusUpdate, artifactUpdate } of events) {
    state = task?.status.state ?? statusUpdate?.status.state ?? state;
    const whole = task?.artifacts?.[0]?.parts.map((part) => part.text).join("");
    const piece = artifactUpdate?.artifact.parts.map((part) => part.text).join("");
    if (whole !== undefined) text = whole;
    if (piece !== undefined) text = artifactUpdate?.append ? text + piece : piece;
  }
  return { state, text };
}
