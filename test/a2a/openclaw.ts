/**
 * OpenClaw, as it comes from npm, as a peer in both directions. Its A2A channel answers SendMessage and GetTask, keeps tasks in memory,
 * can't cancel, and doesn't look for the answer to what it sends: the checks are what is possible with that.
 */
import { strict as assert } from "node:assert";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

/** A cold start takes it half a minute on two busy cores, and its first turn a quarter. */
const START_MS = 300_000;
const ANSWER_MS = 120_000;
const IN = "openclaw-inbound-token";
const TESTER = "openclaw-tester-token";

interface Installed {
  node: string;
  program: string;
}

export async function tryOpenClaw(table: Table, installed: Installed, model: ModelProcess): Promise<void> {
  const at = await startReachable(model.env, { policy: { allow: { peer_ask: ["*"] } } });
  const { token } = await at.lares.rpc("tokens.create", { name: "openclaw", scopes: ["peer"] });
  const claw = new OpenClaw(installed, { model: model.url, port: await freePort(), lares: at.url, token });
  try {
    await table.check("OpenClaw", "starts", () => claw.start());
    await isAskedByLares(table, at, claw);
    await asksLares(table, at, claw);
  } finally {
    await claw.program?.kill();
    await at.close();
  }
  await table.check("OpenClaw", "leftovers: no process", () => nothingLeft(claw.home));
  rmSync(claw.home, { recursive: true, force: true });
}

async function isAskedByLares(table: Table, { lares }: Reachable, claw: OpenClaw): Promise<void> {
  const check = (what: string, work: () => Promise<unknown>) => table.check("Lares → OpenClaw", what, work);
  await check("the card is shown and accepted", async () => {
    const { card } = await lares.rpc("a2a.add", { name: "claw", url: claw.url, token: IN });
    assert.match(card, /OpenClaw agent gateway/);
  });
  await check("an answer comes as a message", async () => {
    await ask(lares, "claw", "say:Greetings of the claw");
    await told(lares, /> Greetings of the claw/, ANSWER_MS);
  });
  await check("a second message continues its conversation", async () => {
    await ask(lares, "claw", "what did I say before?");
    // Without directives the scripted model repeats what it reads, so the earlier words are in it.
    await told(lares, /claw answered "what did I say/, ANSWER_MS);
  });
  await check("kill -9 of the gateway while it works: the answer comes once", async () => {
    await ask(lares, "claw", "delay:4000 say:After the kill");
    await lares.restart();
    await told(lares, /> After the kill/, ANSWER_MS);
    assert.equal((await heard(lares)).match(/> After the kill/g)?.length, 1);
  });
  await check("/stop lets go of it, although it can't cancel", async () => {
    await ask(lares, "claw", "delay:8000 say:Too late");
    await lares.chat("ana", "/stop");
    await until("no open task", async () => (await openTasks(lares)) === 0);
  });
  await check("it is killed and forgets its tasks: the conversation learns it", async () => {
    await ask(lares, "claw", "delay:30000 say:never");
    await claw.program!.kill();
    await claw.start();
    await told(lares, /claw no longer knows/, ANSWER_MS);
    assert.doesNotMatch(await heard(lares), /> Too late/);
  });
  await check("leftovers: no open task", async () => assert.equal(await openTasks(lares), 0));
}

async function asksLares(table: Table, { lares }: Reachable, claw: OpenClaw): Promise<void> {
  const check = (what: string, work: () => Promise<unknown>) => table.check("OpenClaw → Lares", what, work);
  /** Everything it sends is in one conversation, what it says about its own restarts too. */
  const conversations = async () =>
    (await lares.rpc("sessions.list", {})).sessions
      .map(({ session }) => session)
      .filter((one) => one.includes(":a2a:"));
  const answers = async (text: string) => {
    const [session] = await conversations();
    if (!session) return [];
    const { messages } = await lares.rpc("chat.history", { session, limit: 200 });
    return messages.filter((one) => one.role === "assistant" && JSON.stringify(one.content).includes(`"${text}"`));
  };
  const answered = (text: string) =>
    until(`the answer "${text}"`, async () => (await answers(text)).length > 0, { withinMs: ANSWER_MS });
  await check("its agent sends a message, and Lares works on it", async () => {
    assert.match(await claw.send("say:Hello, claw"), /messageId/);
    await answered("Hello, claw");
  });
  await check("a second message continues the conversation", async () => {
    await claw.send("say:And again");
    await answered("And again");
    assert.equal((await conversations()).length, 1);
  });
  await check("what needs the owner waits for the owner, and is answered", async () => {
    await claw.send('tool:web_fetch {"url":"https://nowhere.invalid/"} then: say:went on');
    const [question] = await until("the question", async () => {
      const { approvals } = await lares.rpc("approvals.list", {});
      return approvals.length > 0 ? approvals : undefined;
    });
    await lares.rpc("approvals.resolve", { id: question!.id, decision: "allow-once" });
    await answered("went on");
  });
  await check("kill -9 of the gateway after it took the message: answered once", async () => {
    await claw.send("delay:1500 say:Survived");
    await lares.restart();
    await answered("Survived");
    assert.equal((await answers("Survived")).length, 1);
  });
  await check("a revoked token: its agent reads that it is refused", async () => {
    const [token] = (await lares.rpc("tokens.list", {})).tokens.filter(({ name }) => name === "openclaw");
    await lares.rpc("tokens.revoke", { id: token!.id });
    assert.match(await claw.send("say:Not any more"), /401/);
    assert.equal((await answers("Not any more")).length, 0);
  });
}

class OpenClaw {
  readonly home = scratch("openclaw");
  readonly url: string;
  program: Program | undefined;
  private readonly installed: Installed;
  private readonly port: number;
  private count = 0;

  constructor(installed: Installed, at: { model: string; port: number; lares: string; token: string }) {
    this.installed = installed;
    this.port = at.port;
    this.url = `http://127.0.0.1:${at.port}`;
    mkdirSync(join(this.home, "workspace"), { recursive: true });
    writeFileSync(join(this.home, "openclaw.json"), JSON.stringify(makeConfig(this.home, at), null, 2));
  }

  async start(): Promise<void> {
    const { node, program } = this.installed;
    // One of its own that still ends would own what it keeps, and the next one wouldn't start.
    await nothingLeft(this.home);
    mkdirSync(join(this.home, "tmp"), { recursive: true });
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: this.home,
      OPENCLAW_HOME: this.home,
      OPENCLAW_STATE_DIR: join(this.home, "state"),
      // Its locks are there.
      TMPDIR: join(this.home, "tmp"),
      OPENCLAW_CONFIG_PATH: join(this.home, "openclaw.json"),
      OPENCLAW_NO_RESPAWN: "1",
    };
    const args = [program, "gateway", "run", "--port", String(this.port)];
    this.program = new Program(node, args, { env, cwd: this.home });
    await untilServed(this.url, this.program, START_MS);
  }

  /** Lets its agent send this to Lares with its message tool. What the tool said. */
  async send(message: string): Promise<string> {
    const input = { action: "send", channel: "a2a", target: "lares", message };
    const text = `tool:message ${JSON.stringify(input)} then: say:{results}`;
    const params = { message: { messageId: `t${++this.count}`, role: "ROLE_USER", parts: [{ text }] } };
    const answer = await fetch(`${this.url}/a2a/v1`, {
      method: "POST",
      headers: { authorization: `Bearer ${TESTER}`, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params }),
    });
    return answer.text();
  }
}

function makeConfig(
  home: string,
  { model, port, lares, token }: { model: string; port: number; lares: string; token: string },
) {
  const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const scripted = {
    id: "scripted",
    name: "scripted",
    contextWindow: 200_000,
    maxTokens: 8000,
    input: ["text"],
    cost: free,
  };
  return {
    gateway: { mode: "local", bind: "loopback", port, auth: { mode: "token", token: "token-of-its-own-gateway" } },
    update: { checkOnStart: false },
    models: { providers: { test: { baseUrl: model, apiKey: "k", api: "anthropic-messages", models: [scripted] } } },
    agents: {
      defaults: { model: { primary: "test/scripted" }, workspace: join(home, "workspace"), skipBootstrap: true },
    },
    // Otherwise its message tool is found by a search first.
    tools: { toolSearch: false },
    channels: {
      a2a: {
        enabled: true,
        peers: { lares: { token: IN, url: `${lares}/a2a/v1`, outboundToken: token }, tester: { token: TESTER } },
      },
    },
  };
}
