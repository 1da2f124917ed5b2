/**
 * Every named crash point: a scenario that passes it, a process that dies exactly there, a restart, and what must hold
 * afterwards: the message is answered once, an effect that may not repeat is not repeated, what is unknown is said.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CRASH_POINTS, type CrashPoint } from "../../src/core/kit/index.ts";
import type { HistoryMessage } from "../../src/core/protocol/index.ts";
import { type FakePeer, startPeer } from "../fakes/a2a/peer.ts";
import { directiveScript } from "../fakes/model-server/index.ts";
import { type SlackFake, startSlack } from "../fakes/slack/index.ts";
import {
  capturing,
  condensingFacts,
  embedding,
  forgettingTopic,
  switching,
  telling,
  writingFiles,
} from "../memory/crashes.ts";
import { EVERY_WAY } from "../support/every-way.ts";
import {
  callExec,
  type FarSide,
  type HookReceiver,
  Lares,
  sendHook,
  startFarSide,
  startHookReceiver,
  startModel,
  textsOf,
  unknownIn,
  until,
} from "../support/index.ts";
import { needs } from "../support/not-run.ts";
import { installing, removing, updating } from "../support/plugin-crashes.ts";
import { carriedTurn, treeTurn } from "../support/run-crashes.ts";
import { installingTool, tryingOut } from "../support/tool-crashes.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let slack: SlackFake;
beforeAll(async () => {
  [model, slack] = await Promise.all([startModel(), startSlack()]);
});
afterAll(() => Promise.all([model?.close(), slack?.close()]));

interface World {
  lares: Lares;
  far: FarSide;
  plain: FarSide;
  /** The lines an effect left outside the database. */
  witness(agent: string): string[];
}

interface Scenario {
  /** Settings beside the usual ones. */
  config?: (home: string) => object;
  /** The same for what has to be started first. */
  setUp?: () => Promise<object>;
  /** Does what passes the point. Errors of a lost connection are expected. */
  provoke(world: World): Promise<unknown>;
  /** In the next life: brings it to its end and looks. */
  settle(world: World): Promise<void>;
}

const NO_CRASH = { LARES_CRASH_AT: "" };

async function run(point: string, scenario: Scenario): Promise<void> {
  const [far, plain] = await Promise.all([startFarSide(), startFarSide({ dedupes: false })]);
  const lares = new Lares({
    env: model.env,
    config: {
      policy: { mode: "record" },
      agents: { asker: { policy: { mode: "ask" } } },
      gateway: { http: { wait: 0.05 } },
      outbox: { firstRetryMs: 20, mostRetryMs: 100 },
      channels: {
        webhook: {
          dedupes: { secret: far.secret, url: far.url, dedupes: true },
          plain: { secret: plain.secret, url: plain.url, dedupes: false },
        },
      },
    },
  });
  const world: World = {
    lares,
    far,
    plain,
    witness: (agent) => {
      const file = join(lares.workspace(agent), "witness");
      return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
    },
  };
  try {
    if (scenario.config || scenario.setUp) {
      const usual = JSON.parse(readFileSync(join(lares.home, "lares.yaml"), "utf8")) as object;
      lares.configure({ ...usual, ...scenario.config?.(lares.home), ...(await scenario.setUp?.()) });
    }
    await lares.start({ LARES_CRASH_AT: point });
    let died: unknown;
    void lares.gone.then((end) => {
      died = end;
    });
    await scenario.provoke(world).catch(() => {});
    await until(`the process to die at ${point}`, () => died, { withinMs: 20_000 });
    expect(died).toMatchObject({ signal: "SIGKILL" });
    await lares.start(NO_CRASH);
    await scenario.settle(world);
    // And nothing of what touched the world happens again in a life after that.
    if (!EVERY_WAY && !/^(effect|outbox|send|end)\./.test(point)) return;
    const before = JSON.stringify([world.witness("main"), world.witness("asker"), far.shown, plain.shown]);
    await lares.restart(NO_CRASH);
    expect((await lares.chat("after", "say:all is well")).response).toBe("all is well");
    expect(JSON.stringify([world.witness("main"), world.witness("asker"), far.shown, plain.shown])).toBe(before);
  } finally {
    await lares.dispose();
    await Promise.all([far.close(), plain.close()]);
  }
}

const MESSAGE = `#m ${callExec("echo token >> witness")} then: say:done`;

/** How a turn with one exec ends, whatever happened on the way. */
async function checkTurn(
  world: World,
  agent: string,
  session: string,
  expected: { lines: number; unknown: boolean },
  between?: string,
): Promise<void> {
  const { turns } = await world.lares.rpc("turns.list", { session });
  expect(turns.map((t) => t.state)).toEqual(between === undefined ? ["answered"] : ["answered", "answered"]);
  const { messages } = await world.lares.rpc("chat.history", { session });
  const asked = messages.find((m) => textsOf([m])[0]?.[1] === MESSAGE)!;
  const turn = await world.lares.rpc("turns.get", { turn: asked.turn });
  expect(textsOf(messages).filter(([, text]) => text === MESSAGE)).toHaveLength(1);
  const answers = textsOf(messages).flatMap(([role, text]) => (role === "assistant" ? [text] : []));
  // The scripted model echoes an outcome that comes as a later message.
  expect(answers).toEqual(
    between === undefined ? ["done"] : [between, expect.stringMatching(/^echo: Allowed by owner/)],
  );
  checkWhole(messages);
  expect(world.witness(agent)).toEqual(Array(expected.lines).fill("token"));
  expect(unknownIn(messages)).toBe(expected.unknown);
  expect(turn.notices.some((notice) => /not known/.test(notice))).toBe(expected.unknown);
}

/** A call of an MCP server's tool, which starts its program. */
function servedTurn(): Scenario {
  const server = fileURLToPath(new URL("../fakes/mcp/server.mjs", import.meta.url));
  const search = 'tool:tool_search {"query":"weather"} then: say:found';
  return {
    config(home) {
      const script = join(home, "script.json");
      const tool = { name: "forecast", description: "The weather.", inputSchema: { type: "object" } };
      writeFileSync(script, JSON.stringify({ tools: [tool], log: join(home, "mcp.log") }));
      return { mcp: { servers: { sky: { command: process.execPath, args: [server, script], sandbox: false } } } };
    },
    provoke: ({ lares }) => lares.chat("ana", search, { key: "served" }),
    async settle({ lares }) {
      // Looking is a step: it is done again, and the program starts once.
      expect((await lares.chat("ana", search, { key: "served" })).response).toBe("found");
      const log = readFileSync(join(lares.home, "mcp.log"), "utf8").split("\n").filter(Boolean);
      expect(log).toEqual([expect.stringMatching(/^started/)]);
    },
  };
}

/** A call that an MCP server turns into a task. `isKnown`: the outcome is, in the end; otherwise that is said. */
function taskTurn(isKnown: boolean): Scenario {
  const server = fileURLToPath(new URL("../fakes/mcp/server.mjs", import.meta.url));
  const run = `tool:tool_run ${JSON.stringify({ name: "sky__forecast", input: {} })} then: say:done`;
  return {
    config(home) {
      const script = join(home, "script.json");
      const tool = { name: "forecast", description: "The weather.", inputSchema: { type: "object" } };
      const tasks = { forecast: {} };
      writeFileSync(script, JSON.stringify({ tools: [tool], era: "modern", tasks, log: join(home, "mcp.log") }));
      const sky = { command: process.execPath, args: [server, script], sandbox: false };
      return { mcp: { servers: { sky } }, policy: { allow: { mcp: ["sky/*"] } } };
    },
    async provoke({ lares }) {
      await lares.chat("ana", 'tool:tool_search {"query":"weather"} then: say:found', { key: "looked" });
      await lares.chat("ana", run, { key: "task" });
    },
    async settle({ lares }) {
      // While the turn is parked, the same message again is answered with that.
      const { notices } = await until("the answer", async () => {
        const answer = await lares.chat("ana", run, { key: "task" });
        return answer.response === "done" ? answer : undefined;
      });
      expect(notices.join().includes("isn't known")).toBe(!isKnown);
      const log = readFileSync(join(lares.home, "mcp.log"), "utf8").split("\n");
      expect(log.filter((line) => line.startsWith("called"))).toHaveLength(1);
      const { messages } = await lares.rpc("chat.history", { session: "agent:main:http:owner:ana" });
      expect(JSON.stringify(messages).split("forecast made of").length - 1).toBe(isKnown ? 1 : 0);
    },
  };
}

const farPeers = await Promise.all([startPeer(), startPeer(), startPeer()]);
afterAll(() => Promise.all(farPeers.map((one) => one.close())));

/** An agent asks an agent of somebody else's. `sends`: how often the peer got the message in the end. */
function hiredTurn(farPeer: FakePeer, sends: number): Scenario {
  const text = "count the stars";
  const ask = `tool:tool_run ${JSON.stringify({ name: "peer_ask", input: { peer: "far", message: text } })} then: say:asked`;
  return {
    config: () => ({
      a2a: { peers: { far: { url: farPeer.url, token: "peer-token" } } },
      policy: { allow: { peer_ask: ["far"] } },
    }),
    async provoke({ lares }) {
      farPeer.sent.length = 0;
      const { digest = "" } = await lares.rpc("a2a.test", { name: "far" });
      await lares.rpc("a2a.accept", { name: "far", digest });
      await lares.chat("ana", ask, { key: "hired" });
      farPeer.finish("many");
      // Until the process dies, or for good when it doesn't.
      await until("the end", async () => (await lares.rpc("a2a.list", {})).peers[0]?.open === 0);
    },
    async settle({ lares }) {
      expect((await lares.chat("ana", ask, { key: "hired" })).response).toBe("asked");
      farPeer.finish("many");
      const history = () => lares.rpc("chat.history", { session: "agent:main:http:owner:ana" });
      const words = sends ? /> many/ : /Outcome unknown/;
      await until(String(words), async () => words.test(JSON.stringify((await history()).messages)));
      expect(farPeer.sent).toEqual(Array(sends).fill(text));
      const heard = (await history()).messages.filter(({ role }) => role === "user");
      expect(JSON.stringify(heard).match(/> many/g) ?? []).toHaveLength(sends);
    },
  };
}

/** A server is added from a paste with a key in it; whoever added it tries again. */
function addedServer(): Scenario {
  const paste = { mcpServers: { sky: { command: "/usr/bin/true", env: { SKY_TOKEN: "sky-token-0123456789" } } } };
  const add = (lares: Lares) => lares.rpc("mcp.add", { text: JSON.stringify(paste) });
  return {
    provoke: ({ lares }) => add(lares),
    async settle({ lares }) {
      expect((await lares.rpc("mcp.list", {})).servers).toEqual([]);
      expect((await add(lares)).added).toMatchObject([{ name: "sky" }]);
      const text = readFileSync(join(lares.home, "lares.yaml"), "utf8");
      expect(text).toContain("vault:MCP_SKY_SKY_TOKEN");
      expect(text).not.toContain("sky-token-0123456789");
    },
  };
}

/** Each call has exactly one result, right behind it. */
function checkWhole(messages: HistoryMessage[]): void {
  for (const [i, m] of messages.entries()) {
    const calls = m.content.flatMap((part) => (part.type === "tool-call" ? [part.id] : []));
    if (calls.length === 0) continue;
    const results = messages[i + 1]!.content.flatMap((part) => (part.type === "tool-result" ? [part.id] : []));
    expect(results).toEqual(calls);
  }
}

/** A message with a tool call through /chat; the client retries with its key. */
const plainTurn = (expected: { lines: number; unknown: boolean } = { lines: 1, unknown: false }): Scenario => ({
  provoke: ({ lares }) => lares.chat("u", MESSAGE, { key: "k" }),
  async settle(world) {
    const answer = await world.lares.chat("u", MESSAGE, { key: "k" });
    expect(answer).toMatchObject({ state: "answered", response: "done", duplicate: true });
    await checkTurn(world, "main", answer.session, expected);
  },
});

/** The same where no sandbox ends with its first process. */
const unconfined = (scenario: Scenario): Scenario => ({
  ...scenario,
  config: () => ({ sandbox: { backend: "none" } }),
});

/** The same with an agent that asks; dies somewhere on the way to the person's answer, or after it. */
const askedTurn = (
  expected: { lines: number; unknown: boolean } = { lines: 1, unknown: false },
  between?: string,
): Scenario => ({
  async provoke({ lares }) {
    const parked = await lares.chat("u", MESSAGE, { key: "k", agent: "asker" });
    if (between) await lares.chat("u", `say:${between}`, { agent: "asker" });
    await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
    await lares.rpc("turns.wait", { turn: parked.turn });
  },
  async settle(world) {
    const { lares } = world;
    // A person who got no answer looks again; where their word was taken, nothing waits any more.
    const answer = await until("the answer", async () => {
      const now = await lares.chat("u", MESSAGE, { key: "k", agent: "asker" });
      if (now.approval) await lares.rpc("approvals.resolve", { id: now.approval.id, decision: "allow-once" });
      return now.state === "answered" ? now : undefined;
    });
    await checkTurn(world, "asker", answer.session, expected, between);
    // One result for the call: in its place, or in one later message.
    const { messages } = await lares.rpc("chat.history", { session: answer.session });
    const results = messages.flatMap((m) => m.content.filter((part) => part.type === "tool-result"));
    const isInterim = results.some((part) => "text" in part && part.text.startsWith("Waiting for"));
    expect(isInterim).toBe(between !== undefined);
    expect(messages.filter((m) => m.meta?.kind === "outcome")).toHaveLength(between === undefined ? 0 : 1);
    const { approvals } = await lares.rpc("approvals.list", { state: "all" });
    expect(approvals.map((a) => a.state)).toEqual(["allowed"]);
  },
});

/** An answer to a webhook chat. `shown` is what the person there must see in the end. */
const hookTurn = (
  account: "dedupes" | "plain",
  shown: (string | RegExp)[],
  was: { known: boolean } = { known: true },
): Scenario => {
  const message = { id: "h1", chat: "c1", text: "say:hello hook" };
  return {
    provoke: ({ lares, far }) => sendHook(lares, account, far.secret, message),
    async settle({ lares, far, plain }) {
      const at = account === "plain" ? plain : far;
      // The platform did not get its acknowledgement everywhere, so it repeats the message.
      const { json } = await sendHook(lares, account, far.secret, message);
      expect(json.duplicate).toBe(was.known);
      await until(
        "every delivery to be settled",
        async () => {
          const { deliveries } = await lares.rpc("turns.get", { turn: json.turn! });
          return deliveries.length > 0 && deliveries.every((d) => d.state === "sent" || d.state === "uncertain");
        },
        { instead: () => lares.rpc("turns.get", { turn: json.turn! }) },
      );
      const seen = at.shown.map((m) => m.text);
      expect(seen).toHaveLength(shown.length);
      for (const [i, want] of shown.entries()) expect(seen[i]).toMatch(want);
    },
  };
};

/** An answer that appears while it is written. */
const writingLive: Scenario = {
  config: () => ({
    outbox: { firstRetryMs: 20, mostRetryMs: 100 },
    channels: {
      slack: {
        main: {
          botToken: slack.botToken,
          appToken: slack.appToken,
          apiUrl: `${slack.url}/api`,
          owners: ["U42"],
          paceMs: 0,
        },
      },
    },
  }),
  async provoke() {
    await until("a connection", () => slack.connections() === 1);
    slack.say("D42", "U42", "gap:150 say:this answer is written slowly enough to be seen");
  },
  async settle() {
    const texts = () => slack.sent.filter((m) => m.channel === "D42" && !m.deleted).map((m) => m.text);
    await until("the answer", () => texts().some((text) => text.endsWith("to be seen")));
    expect(texts()).toEqual(["this answer is written slowly enough to be seen"]);
  },
};

const HELLO = /^hello hook$/;
const NOTE = /couldn't confirm[\s\S]*hello hook/;

/** Three files are changed by a turn, and the turn is undone. A person who got no answer asks again. */
const undoing: Scenario = {
  async provoke({ lares }) {
    const writes = ["a", "b", "c"].map((name) => `tool:write ${JSON.stringify({ path: name, content: "new" })}`);
    await lares.chat("u", 'tool:write {"path":"a","content":"old"} then: say:ok');
    const { turn } = await lares.chat("u", `${writes.join(" ")} then: say:ok`);
    await lares.rpc("undo.turn", { turn });
  },
  async settle({ lares }) {
    const file = (name: string) => join(lares.workspace(), name);
    expect(readFileSync(file("a"), "utf8")).toBe("old");
    expect([existsSync(file("b")), existsSync(file("c"))]).toEqual([false, false]);
    const { turns } = await lares.rpc("undo.list", {});
    expect(turns).toHaveLength(3);
    expect(turns[1]!.undoneBy).toBe(turns[0]!.turn);
    const again = await lares.rpc("undo.turn", { turn: turns[1]!.turn });
    expect(again.files.map((f) => f.result)).toEqual(["already", "already", "already"]);
    expect(again.undo).toBeUndefined();
  },
};

/** Somebody rings for a session, gets no answer and rings again. */
const ringing: Scenario = {
  provoke: ({ lares }) => ring(lares),
  async settle({ lares }) {
    expect((await ring(lares)).duplicate).toBe(true);
    const said = await until("the session to be told", async () => {
      const { messages } = await lares
        .rpc("chat.history", { session: "agent:main:main" })
        .catch(() => ({ messages: [] }));
      return messages.some((m) => m.role === "assistant") && textsOf(messages);
    });
    expect(said).toEqual([
      ["user", "> say:awake"],
      ["assistant", "awake"],
    ]);
  },
};
const ring = (lares: Lares) =>
  lares.rpc("wakes.send", { session: "main", text: "say:awake", idempotencyKey: "ring-1" });

const BELL_SECRET = "a-secret-of-the-bell-0123456789";
const strike = (lares: Lares) =>
  lares.request("POST", "/hooks/bell", {
    body: { id: "1", text: "say:rung" },
    headers: { authorization: `Bearer ${BELL_SECRET}` },
  });

/** A program outside rings; it gets no answer and rings again. */
const rungFromOutside: Scenario = {
  config: () => ({
    hooks: { bell: { scheme: "bearer", secret: BELL_SECRET, id: "body.id", text: "{{body.text}}", session: "main" } },
  }),
  provoke: ({ lares }) => strike(lares),
  async settle({ lares }) {
    expect((await strike(lares)).status).toBe(202);
    expect((await strike(lares)).json).toMatchObject({ duplicate: true });
    await until("the session to be told", async () => {
      const { messages } = await lares
        .rpc("chat.history", { session: "agent:main:main" })
        .catch(() => ({ messages: [] }));
      return messages.some((m) => m.role === "assistant");
    });
  },
};

/** A conversation is compacted on request; the process dies on the way, and the next one goes on by itself. */
const compacting: Scenario = {
  async provoke({ lares }) {
    for (let i = 0; i < 6; i++) await lares.chat("c", `note ${i}: ${"one two three four ".repeat(30)}`);
    await lares.rpc("context.compact", { session: "agent:main:http:owner:c" });
  },
  async settle({ lares }) {
    const session = "agent:main:http:owner:c";
    const ledger = await until("the carry-over to be in force", async () => {
      const now = await lares.rpc("context.get", { session });
      return now.compactions.length > 0 ? now : undefined;
    });
    expect(ledger.compactions).toMatchObject([{ how: "summary", state: "in force" }]);
    expect(ledger.notes.carried).toContain("note 0");
    expect((await lares.rpc("chat.history", { session })).messages).toHaveLength(12);
    expect((await lares.chat("c", "say:on we go")).response).toBe("on we go");
  },
};

/** A file appears where it is watched. */
const dropping: Scenario = {
  config(home) {
    mkdirSync(join(home, "drop"));
    return { watch: { drop: { kind: "files", path: join(home, "drop"), everySeconds: 0.2, session: "main" } } };
  },
  async provoke({ lares }) {
    // What is there at the first look is not new.
    await until("the first look", async () => {
      const { wakes } = await lares.rpc("wakes.list", {});
      return wakes.some((one) => one.kind === "watch" && one.lastAt !== undefined);
    });
    writeFileSync(join(lares.home, "drop", "new.txt"), "x");
  },
  async settle({ lares }) {
    const told = async () => {
      const main = { session: "agent:main:main" };
      const { messages } = await lares.rpc("chat.history", main).catch(() => ({ messages: [] }));
      return textsOf(messages).filter(([role, text]) => role === "user" && text.includes("> new: new.txt")).length;
    };
    await until("the file to be told", async () => (await told()) > 0);
    await lares.restart(NO_CRASH);
    expect(await told()).toBe(1);
  },
};

/** Dies while a model is asked, and again while that is counted: it was near one death. */
const diedWorking: Scenario & { answer: () => void } = {
  answer: () => {},
  async provoke({ lares }) {
    // The model answers once the death was seen to count, so that the turn doesn't end before.
    const seen = new Promise<void>((resolve) => {
      diedWorking.answer = resolve;
    });
    const direct = directiveScript();
    let isHeld = false;
    model.use(async (request, { body }) => {
      if (!JSON.stringify(body).includes("say:done while counted")) return direct(request);
      isHeld = true;
      await seen;
      return direct(request);
    });
    lares.chat("u", "say:done while counted", { key: "k" }).catch(() => {});
    await until("the model to be asked", () => isHeld);
    await lares.kill9();
    lares.spawn({ LARES_CRASH_AT: "strikes.stored" });
    await lares.gone;
  },
  async settle({ lares }) {
    const { held } = JSON.parse(readFileSync(join(lares.home, "strikes.json"), "utf8")) as {
      held: Record<string, { strikes: number; deaths: number; near: number }>;
    };
    expect(Object.values(held)).toMatchObject([{ strikes: 0, deaths: 0, near: 1 }]);
    diedWorking.answer();
    const answer = await until("the answer", async () => {
      const got = await lares.chat("u", "say:done while counted", { key: "k" });
      return got.state === "answered" ? got : undefined;
    });
    expect(answer.response).toBe("done while counted");
  },
};

const movingIn: Scenario = {
  provoke: ({ lares }) => lares.rpc("import.run", { from: "hermes", dir: moveFrom(lares.home) }),
  async settle({ lares }) {
    const { items } = await lares.rpc("import.run", { from: "hermes", dir: moveFrom(lares.home) });
    expect(items.length).toBeGreaterThan(0);
  },
};

function moveFrom(home: string): string {
  const dir = join(home, "hermes");
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "SOUL.md"), "A soul.\n");
  return dir;
}

const importing: Scenario = {
  provoke: ({ lares }) => lares.rpc("sessions.import", { session: LINES[0]!.session, lines: LINES }),
  async settle({ lares }) {
    const { session } = LINES[0]!;
    await expect(lares.rpc("sessions.get", { session })).rejects.toMatchObject({ status: 404 });
    expect(await lares.rpc("sessions.import", { session: LINES[0]!.session, lines: LINES })).toMatchObject({
      imported: LINES.length,
      skipped: 0,
    });
    expect((await lares.rpc("sessions.export", { session })).lines).toEqual(LINES);
  },
};
const LINES: HistoryMessage[] = Array.from({ length: 5 }, (_, i) => ({
  session: "agent:main:imported",
  seq: i + 1,
  id: `m${i}`,
  turn: "t1",
  role: i % 2 ? ("assistant" as const) : ("user" as const),
  content: [{ type: "text" as const, text: `line ${i}` }],
  timestamp: new Date(1_700_000_000_000 + i).toISOString(),
}));

/** A script job due at once: its slot ends once, with its one line in the witness, or says that nobody knows. */
const jobRun = (expected: { lines: number; unknown: boolean } = { lines: 1, unknown: false }): Scenario => ({
  provoke: ({ lares }) =>
    lares.rpc("schedule.add", { name: "job", script: "echo token >> witness", at: Date.now(), alertAfter: 1 }),
  async settle(world) {
    const ended = () =>
      world.lares.rpc("schedule.history", { id: "job" }).then((h) => h.slots.filter((s) => s.endedAt));
    const [slot] = await until("the slot to end", async () => ((await ended()).length ? ended() : undefined));
    expect(slot).toMatchObject(
      expected.unknown ? { state: "failed", reason: expect.stringMatching(/Outcome unknown/) } : { state: "done" },
    );
    expect(await ended()).toHaveLength(1);
    expect(world.witness("main")).toEqual(Array(expected.lines).fill("token"));
  },
});

/** A task of the board is taken, worked on, checked and done: one attempt, one verdict, wherever the process dies. */
const boardTask: Scenario = {
  provoke: ({ lares }) =>
    lares.rpc("board.create", { title: "say:worked", acceptance: { kind: "command", command: "true" } }),
  async settle({ lares }) {
    const task = await until("the task to be done", async () => {
      const now = await lares.rpc("board.get", { task: "1" });
      return now.state === "done" ? now : undefined;
    });
    expect([task.attempt, task.runs.length]).toEqual([1, 1]);
    expect(task.verdicts).toMatchObject([{ clean: true, evidence: [{ kind: "command" }] }]);
    expect(task.timeline.map(({ move }) => move)).toEqual(["claim", "start", "hand_in", "accept"]);
  },
};

/** The answer of a job is refused for good: the run is done, and nobody got what it says. */
const refusedJob: Scenario = {
  async provoke({ lares, far }) {
    far.behave({ how: "refuse", status: 410 });
    const deliver = { channel: "webhook", account: "dedupes", chat: "c-job" };
    await lares.rpc("schedule.add", { name: "job", script: "echo token", at: Date.now(), deliver });
  },
  async settle({ lares, far }) {
    const slot = await until("the slot to be known as failed", async () => {
      const { slots } = await lares.rpc("schedule.history", { id: "job" });
      return slots.find((one) => one.state === "failed");
    });
    expect(slot.reason).toMatch(/Done, but the answer could not be delivered: .*410/);
    const { jobs } = await lares.rpc("schedule.list", {});
    expect(jobs.find((one) => one.name === "job")).toMatchObject({ failures: 1 });
    expect(far.shown).toEqual([]);
  },
};

/** Somebody observes turns, and hears of every one, however often the program dies in between. */
function observed(): Scenario {
  let receiver: HookReceiver | undefined;
  return {
    async setUp() {
      receiver = await startHookReceiver();
      const { url, secret } = receiver;
      return { eventHooks: { webhooks: { ear: { url, secret, events: ["turn.ended"] } } } };
    },
    provoke: ({ lares }) => lares.chat("obs", "say:first"),
    async settle({ lares }) {
      try {
        await lares.chat("obs", "say:second");
        const ends = () => receiver!.events("turn.ended");
        await until("both turns to be heard", () => ends().some(({ data }) => data.text === "second"));
        // In order, each at least once, and a repetition under the same id.
        expect([...new Set(ends().map(({ data }) => data.text))]).toEqual(["first", "second"]);
        expect(new Set(ends().map(({ id }) => id)).size).toBe(2);
        expect(receiver!.badSignatures).toBe(0);
      } finally {
        await receiver?.close();
      }
    },
  };
}

/** Passed by `lares backup`, in a process beside the gateway's: test/flows/backup.test.ts dies there. */
const COMMAND_POINTS = ["backup.packed", "backup.stored", "restore.staged", "restore.aside"] as const;
type CommandPoint = (typeof COMMAND_POINTS)[number];

/** A team whose lead asks another member: every post and every answer is there once (TEAMS-4). */
function talkingTeam(): Scenario {
  const text = "@researcher say:is it so, @doubter?";
  const make = (lares: Lares) =>
    lares.rpc("teams.add", { id: "pair", template: "research-pair" }).catch((error: Error) => {
      if (!/already a team/.test(error.message)) throw error;
    });
  const post = (lares: Lares) => lares.rpc("teams.post", { id: "pair", text, idempotencyKey: "asked" });
  return {
    async provoke({ lares }) {
      await make(lares);
      await post(lares);
    },
    async settle({ lares }) {
      await make(lares);
      await post(lares);
      const posts = async () => (await lares.rpc("teams.posts", { id: "pair" })).posts;
      await until("both answers", async () => (await posts()).length >= 3, { instead: posts });
      await lares.restart(NO_CRASH);
      expect((await posts()).map(({ author }) => author)).toEqual(["owner", "researcher", "doubter"]);
    },
  };
}

/** One scenario a point at least; `:n` is a later passing of it. */
const SWEEP: Record<Exclude<CrashPoint, CommandPoint>, [string, Scenario][]> = {
  "accept.committed": [["", plainTurn()]],
  "segment.started": [
    ["", plainTurn()],
    [":2", askedTurn()],
  ],
  "model.before": [
    ["", plainTurn()],
    [":2", plainTurn()],
  ],
  "model.after": [
    ["", plainTurn()],
    [":2", plainTurn()],
  ],
  // The model's reply, the judgement, the second reply; then, of a turn that was asked for, the check of what was shown.
  "step.recorded": [
    ["", plainTurn()],
    [":2", plainTurn()],
    [":3", plainTurn()],
    [":3", askedTurn()],
  ],
  // A command is never unknown: it had not started and runs now, or its supervisor knows how it ended.
  "effect.ready": [
    ["", plainTurn()],
    ["", askedTurn()],
  ],
  "effect.intended": [
    ["", plainTurn()],
    ["", askedTurn()],
  ],
  "command.prepared": [
    ["", plainTurn()],
    ["", jobRun()],
    ["", unconfined(plainTurn())],
  ],
  "command.started": [
    ["", plainTurn()],
    ["", askedTurn()],
    ["", jobRun()],
    ["", unconfined(plainTurn())],
  ],
  "tool.running": [["", plainTurn()]],
  "effect.acted": [
    ["", jobRun()],
    ["", plainTurn()],
    ["", askedTurn()],
    ["", unconfined(plainTurn())],
  ],
  "server.adding": [["", addedServer()]],
  "server.noted": [["", servedTurn()]],
  // The server has the task and nobody knows its name: said so, and not called again.
  "task.made": [["", taskTurn(false)]],
  "task.noted": [["", taskTurn(true)]],
  "task.ended": [["", taskTurn(true)]],
  "plugin.staged": [
    ["", installing(undefined)],
    [":2", updating("1.0.0")],
  ],
  "plugin.stored": [
    ["", installing(undefined)],
    [":2", updating("1.0.0")],
  ],
  "plugin.locked": [
    ["", installing("1.0.0")],
    [":2", updating("2.0.0")],
  ],
  "plugin.unlocked": [["", removing()]],
  // Not sent, as far as anybody can know: said so, and not sent later.
  "peer.noted": [["", hiredTurn(farPeers[0]!, 0)]],
  "peer.sent": [["", hiredTurn(farPeers[1]!, 1)]],
  "peer.heard": [["", hiredTurn(farPeers[2]!, 1)]],
  "run.opening": [["", carriedTurn()]],
  "run.opened": [["", carriedTurn()]],
  // Its start, its token, the call, the question, the answer, the result, the words.
  "run.recorded": [
    ["", carriedTurn()],
    [":3", carriedTurn()],
    [":4", carriedTurn()],
    [":6", carriedTurn()],
    [":7", carriedTurn()],
  ],
  "run.said": [["", carriedTurn(true)]],
  "worktree.noted": [["", treeTurn()]],
  "worktree.made": [["", treeTurn()]],
  "worktree.committed": [["", treeTurn()]],
  "worktree.removed": [["", treeTurn()]],
  "tool.staged": [["", installingTool("none")]],
  "tool.placed": [["", installingTool("whole")]],
  "probe.noted": [["", tryingOut()]],
  "probe.seen": [["", tryingOut()]],
  "team.staged": [["", talkingTeam()]],
  "team.posted": [["", talkingTeam()]],
  "team.asking": [
    ["", talkingTeam()],
    [":2", talkingTeam()],
  ],
  "team.answered": [
    ["", talkingTeam()],
    [":2", talkingTeam()],
  ],
  "park.before": [["", askedTurn()]],
  "park.committed": [["", askedTurn()]],
  "resume.before": [["", askedTurn()]],
  "resume.committed": [["", askedTurn()]],
  // In its place, and behind it when another message was answered meanwhile.
  "outcome.before": [
    ["", askedTurn()],
    ["", askedTurn(undefined, "meanwhile")],
  ],
  "outcome.recorded": [
    ["", askedTurn()],
    ["", askedTurn(undefined, "meanwhile")],
  ],
  "end.before": [
    ["", plainTurn()],
    ["", askedTurn()],
    ["", hookTurn("plain", [HELLO])],
  ],
  "end.committed": [
    ["", plainTurn()],
    ["", hookTurn("plain", [HELLO])],
  ],
  "outbox.rendering": [["", hookTurn("plain", [HELLO])]],
  "outbox.before": [
    ["", hookTurn("dedupes", [HELLO])],
    ["", hookTurn("plain", [HELLO])],
  ],
  "outbox.claimed": [
    ["", hookTurn("dedupes", [HELLO])],
    ["", hookTurn("plain", [NOTE])],
  ],
  "send.after": [
    ["", hookTurn("dedupes", [HELLO])],
    ["", hookTurn("plain", [HELLO, NOTE])],
  ],
  "outbox.recorded": [
    ["", hookTurn("dedupes", [HELLO])],
    ["", hookTurn("plain", [HELLO])],
  ],
  // The first looks are made before it is ready.
  "watch.looking": [[":15", dropping]],
  "watch.looked": [["", dropping]],
  "hook.filling": [["", rungFromOutside]],
  "observer.delivered": [["", observed()]],
  "observer.stored": [["", observed()]],
  "memory.reading": [["", capturing]],
  "strikes.stored": [["", diedWorking]],
  "import.reading": [["", movingIn]],
  "event.stored": [
    ["", ringing],
    ["", dropping],
  ],
  "channel.reading": [["", hookTurn("plain", [HELLO], { known: false })]],
  "channel.heard": [["", hookTurn("plain", [HELLO], { known: false })]],
  "channel.taken": [["", hookTurn("plain", [HELLO])]],
  "undo.planned": [["", undoing]],
  "undo.file": [
    ["", undoing],
    [":2", undoing],
  ],
  "live.placed": [["", writingLive]],
  "outbox.closed": [["", refusedJob]],
  "slot.planned": [["", jobRun()]],
  "slot.admitted": [["", jobRun()]],
  "slot.started": [["", jobRun()]],
  "slot.ending": [
    ["", jobRun()],
    ["", refusedJob],
  ],
  "slot.ended": [["", jobRun()]],
  "board.claimed": [["", boardTask]],
  "board.handing": [["", boardTask]],
  "board.judging": [["", boardTask]],
  // When it is made, taken, handed in and done.
  "board.moved": [
    [":4", boardTask],
    ["", boardTask],
    [":2", boardTask],
    [":3", boardTask],
  ],
  "compact.planned": [["", compacting]],
  "compact.summarised": [["", compacting]],
  "compact.applied": [["", compacting]],
  "import.row": [
    ["", importing],
    [":4", importing],
  ],
  "memory.embedded": [["", embedding]],
  "memory.switched": [["", switching]],
  "memory.forgetting": [["", forgettingTopic]],
  // When the first fact is queued, and when it was told to start from nothing, of the facts, and to forget one.
  "memory.queued": [["", telling]],
  "memory.told": [
    ["", telling],
    [":2", telling],
    ["~memory/forget", telling],
  ],
  "capture.asked": [["", capturing]],
  "capture.kept": [["", capturing]],
  "view.planned": [["", writingFiles]],
  "view.written": [["", writingFiles]],
  "condense.asked": [["", condensingFacts]],
  "condense.applied": [["", condensingFacts]],
};

it("the sweep knows every point of the catalogue", () => {
  expect([...Object.keys(SWEEP), ...COMMAND_POINTS].sort()).toEqual(Object.keys(CRASH_POINTS).sort());
  for (const list of Object.values(SWEEP)) expect(list.length).toBeGreaterThan(0);
});

/**
 * `npm run test:kill -- --points`: every way to each point, and a third life after each. Here the first way, a third life where the
 * world was touched, and of the points that one background job passes only the one behind which most is half done.
 */
const ELSEWHERE: readonly CrashPoint[] = [
  ...(["slot.planned", "slot.started", "slot.ended", "compact.planned", "compact.applied"] as const),
  ...(["capture.asked", "view.planned", "condense.asked", "memory.switched", "undo.planned"] as const),
  ...(["worktree.noted", "worktree.removed", "board.claimed"] as const),
  ...(["watch.looking", "channel.heard", "segment.started", "model.before", "end.before", "outbox.before"] as const),
];

describe.concurrent("killed at", () => {
  const points = (Object.keys(SWEEP) as (keyof typeof SWEEP)[]).filter(
    (point) => EVERY_WAY || !ELSEWHERE.includes(point),
  );
  const all = points.flatMap((point) =>
    (EVERY_WAY ? SWEEP[point] : SWEEP[point].slice(0, 1)).map(
      ([n, scenario], i) => [`${point}${n}`, i + 1, scenario] as const,
    ),
  );
  const [runs, others] = [all.filter(([point]) => isRun(point)), all.filter(([point]) => !isRun(point))];
  it.each(others)("%s (%i)", (point, _i, scenario) => run(point, scenario), 60_000);
  it.skipIf(!needs("bwrap", "kills while another runtime works")).each(runs)(
    "%s (%i)",
    (point, _i, scenario) => run(point, scenario),
    60_000,
  );
});

/** Another runtime is at work, which without a sandbox is not started. */
function isRun(point: string): boolean {
  return point.startsWith("run.") || point.startsWith("worktree.");
}
