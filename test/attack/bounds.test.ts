/** Nothing that others send or ask for is without a bound: each case sends too much of one thing and looks at the gateway meanwhile. */

import { EventEmitter } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { Connections } from "../../src/faces/gateway/connections.ts";
import { textOf } from "../fakes/model-server/index.ts";
import { EVERY_WAY, type Lares, needs, scratch, startLares, startModel, toolResults, until } from "../support/index.ts";
import { pretend } from "../support/pretend.ts";
import { type Flood, floodProviders, PROTOCOLS, startFlood } from "./flood-model.ts";
import { allowedStall, watched } from "./watching.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface TestInstance {
  lares: Lares;
  model: Awaited<ReturnType<typeof startModel>>;
  close(): Promise<void>;
}

async function open(config: object): Promise<TestInstance> {
  const model = await startModel();
  const lares = await startLares({ env: model.env, config });
  const close = async () => {
    await lares.dispose();
    await model.close();
  };
  return { lares, model, close };
}

async function instance(config: object): Promise<TestInstance> {
  const opened = await open(config);
  closing.push(() => opened.close());
  return opened;
}

let one: Promise<TestInstance> | undefined;
/** One program for all cases that need no settings of their own: what it was asked before must not matter. */
const shared = () => (one ??= open({ policy: { mode: "record" } }));
afterAll(async () => (await one)?.close());

/** What the model was last told about its calls. Something in the background may have asked it since. */
const lastResults = (model: TestInstance["model"]) =>
  toolResults(model.requests.findLast((request) => request.messages.at(-1)?.role === "tool")!);

/** Where a bound is the same code for each of these, `npm test` tries the first one. */
const sample = <T>(all: readonly T[]): T[] => (EVERY_WAY ? [...all] : all.slice(0, 1));

describe("tool calls of one reply", () => {
  test("200 commands in one reply run a few at a time, and the gateway answers all the while", async () => {
    const { lares, model } = await shared();
    model.use((request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: "done" }
        : {
            toolCalls: Array.from({ length: 200 }, (_, i) => ({
              name: "exec",
              input: { command: `sleep 0.1; echo number ${i}` },
            })),
          },
    );
    await lares.chat("warm", "hello");
    const most = await allowedStall(lares);
    const { value, worstMs } = await watched("200 × exec", lares, () => lares.chat("owner", "go"));
    expect(value.response).toBe("done");
    expect(worstMs).toBeLessThan(most);
    const results = lastResults(model);
    expect(results).toHaveLength(200);
    const ran = results.slice(0, 100);
    for (const [i, { text }] of ran.entries())
      expect(text).toContain(`number ${i}
`);
    for (const { text, isError } of results.slice(100)) {
      expect(isError).toBe(true);
      expect(text).toContain("runs only the first 100 tool calls of a reply");
    }
  });

  test("conversations with 8 commands each at the same moment stall nobody", async () => {
    const { lares, model } = await shared();
    const people = EVERY_WAY ? 25 : 10;
    model.use((request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: "done" }
        : { toolCalls: Array.from({ length: 8 }, () => ({ name: "exec", input: { command: "sleep 0.5" } })) },
    );
    const most = await allowedStall(lares);
    const { value, worstMs } = await watched(`${people} × 8 × exec`, lares, () =>
      Promise.all(Array.from({ length: people }, (_, i) => lares.chat(`person-${i}`, "go"))),
    );
    expect(value.map(({ response }) => response)).toEqual(value.map(() => "done"));
    expect(worstMs).toBeLessThan(most);
  }, 180_000);
});

/** As in the report of the attack. */
const FLOOD_BYTES = 400 * 1024 * 1024;
/** What one answer may add to the process: the wire bound a few times over. Without a bound 400 MB took 1.7 GB. */
const MOST_MORE_MB = 350;

describe("answers of models", () => {
  const CASES: [Flood, RegExp][] = [
    ["line", /sent more than Lares accepts in one answer/],
    ["text", /sent more than Lares accepts in one answer/],
    ["error", /had an internal error|failed/],
    ["gzip", /came compressed/],
  ];
  test.each(CASES)("400 MB of %s ends the call, in each protocol", async (flood, words) => {
    // In `npm test` each flood has another protocol.
    const first = CASES.findIndex(([name]) => name === flood) % PROTOCOLS.length;
    const protocols = sample([...PROTOCOLS.slice(first), ...PROTOCOLS.slice(0, first)]);
    const server = await startFlood(flood, FLOOD_BYTES);
    closing.push(() => server.close());
    const agents = Object.fromEntries(PROTOCOLS.map((api) => [api, { model: `${api}/m` }]));
    const models = { default: "anthropic/m", providers: floodProviders(server.url), patienceMs: 0 };
    const lares = await startLares({ config: { models, agents: { main: {}, ...agents } } });
    closing.push(() => lares.dispose());
    const most = await allowedStall(lares);
    for (const api of protocols) {
      const { value, worstMs, peakMb, beforeMb } = await watched(`${flood}, ${api}`, lares, () =>
        lares.chat("owner", "hello", { agent: api }),
      );
      expect(value.state).toBe("failed");
      expect(value.reason).toMatch(words);
      expect(peakMb - beforeMb).toBeLessThan(MOST_MORE_MB);
      expect(worstMs).toBeLessThan(most);
      expect(server.sent()).toBeLessThan(FLOOD_BYTES / 2);
      const reports = (flood === "line" || flood === "text") && api !== "openai-responses";
      if (reports) expect(value.usage?.inputTokens).toBeGreaterThanOrEqual(1234);
    }
  });

  test("tool input nested 5,000 levels deep is refused in words, and the tokens count", async () => {
    const { lares, model } = await shared();
    const deep = `{"command":${"[".repeat(5000)}${"]".repeat(5000)}}`;
    model.use((request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: "I see." }
        : { toolCalls: [{ name: "exec", raw: deep }], usage: { input: 77, output: 5 } },
    );
    const answer = await lares.chat("deep", "go");
    expect(answer).toMatchObject({ state: "answered", response: "I see." });
    expect(answer.usage?.inputTokens).toBeGreaterThanOrEqual(77);
    expect(lastResults(model)[0]?.text).toContain("nested more than 100 levels deep");
  });

  test("2,000 tool calls in one answer end the call, 500 are answered one by one", async () => {
    const { lares, model } = await shared();
    const calls = (n: number) => ({ toolCalls: Array.from({ length: n }, () => ({ name: "list", input: {} })) });
    model.use((request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: "done" }
        : calls(JSON.stringify(request.messages).includes("many") ? 2000 : 500),
    );
    await lares.chat("warm-calls", "some");
    const most = await allowedStall(lares);
    const { value, worstMs } = await watched("500 × list", lares, () => lares.chat("calls", "some"));
    expect(value.response).toBe("done");
    expect(lastResults(model)).toHaveLength(500);
    expect(worstMs).toBeLessThan(most);
    const refused = await lares.chat("many", "many");
    expect(refused).toMatchObject({ state: "failed", reason: expect.stringContaining("more than 1000 tool calls") });
  });
});

describe("connections", () => {
  test("4,200 silent connections lock nobody out, and are closed in time (GATEWAY-3)", async () => {
    const { lares } = await instance({});
    const most = await allowedStall(lares);
    const { sockets, open } = await openSilent(lares, 4200);
    closing.push(async () => {
      for (const socket of sockets) socket.destroy();
    });
    const { value, worstMs } = await watched("4,200 silent connections", lares, async () => {
      for (let i = 0; i < 20; i++) expect((await freshHealth(lares)).status).toBe(200);
      return (await lares.chat("owner", "say:still here")).response;
    });
    expect(value).toBe("still here");
    expect(worstMs).toBeLessThan(most);
    expect(open()).toBeLessThanOrEqual(1024);
    await until("the silent ones to be closed", () => open() === 0, { withinMs: 25_000, instead: open });
  });

  test("headers and bodies that arrive byte by byte are cut off in time (GATEWAY-1)", async () => {
    const { lares } = await instance({ gateway: { http: { bodySeconds: 2 } } });
    const { sockets, open } = await openSilent(lares, 200, "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ");
    const bodies = await openSilent(
      lares,
      200,
      "POST /login HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{",
    );
    const drip = setInterval(() => {
      for (const socket of [...sockets, ...bodies.sockets]) if (!socket.destroyed) socket.write("a");
    }, 500);
    closing.push(async () => {
      clearInterval(drip);
      for (const socket of [...sockets, ...bodies.sockets]) socket.destroy();
    });
    expect((await freshHealth(lares)).status).toBe(200);
    await until("slow headers to be cut", () => open() === 0, { withinMs: 25_000, instead: open });
    await until("slow bodies to be cut", () => bodies.open() === 0, { withinMs: 25_000, instead: bodies.open });
  });

  test("one address holds only a share; this machine and a named proxy stand for many (GATEWAY-2)", () => {
    const connections = new Connections(["10.0.0.9"], { most: 8, mostOfAddress: 3 });
    closing.push(async () => connections.close());
    const server = new EventEmitter();
    connections.watch(server as Server);
    const connect = (remoteAddress: string) => {
      const socket = Object.assign(new EventEmitter(), { remoteAddress, gone: false });
      Object.assign(socket, {
        destroy() {
          socket.gone = true;
          socket.emit("close");
        },
      });
      server.emit("connection", socket);
      return socket;
    };
    const stranger = [1, 2, 3, 4, 5].map(() => connect("10.0.0.1"));
    expect(stranger.map(({ gone }) => gone)).toEqual([true, true, false, false, false]);
    const proxied = [1, 2, 3, 4].map(() => connect("10.0.0.9"));
    expect(proxied.map(({ gone }) => gone)).toEqual([false, false, false, false]);
    const owner = connect("::ffff:127.0.0.1");
    server.emit("request", { socket: stranger[2] });
    connections.proven(pretend<Socket>(proxied[0]));
    for (let i = 0; i < 7; i++) connect("127.0.0.1");
    // The oldest that are quiet went; the one that had asked something is younger than they are, the proven one is safe.
    expect(stranger.map(({ gone }) => gone)).toEqual([true, true, false, true, true]);
    expect(proxied.map(({ gone }) => gone)).toEqual([false, true, true, true]);
    expect(owner.gone).toBe(true);
  });
});

describe("what a command may use up", () => {
  /** One command as the model calls it, and what it got back. */
  async function run(
    { lares, model }: Pick<TestInstance, "lares" | "model">,
    command: string,
    more: object = {},
  ): Promise<string> {
    model.use(({ messages }) => {
      const last = messages.at(-1)!;
      // Only for the person's word: the end of a command in the background wakes the model, too.
      const isAsked = last.role === "user" && textOf(last) === "go";
      return isAsked ? { toolCalls: [{ name: "exec", input: { command, ...more } }] } : { text: "done" };
    });
    const name = command.slice(0, 40);
    const { value } = await watched(name, lares, () => lares.chat(`owner-${Math.random()}`, "go"));
    expect(value.response).toBe("done");
    return lastResults(model)[0]!.text;
  }
  /** Another number in each run: what an earlier one left behind is not counted. */
  const span = (n: number) => 100_000 + (process.pid % 100_000) * 10 + n;
  const sleeping = (seconds: number) =>
    readdirSync("/proc").filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${seconds}\0`;
      } catch {
        return false;
      }
    });
  const sleepers = (seconds: number) => sleeping(seconds).length;
  afterAll(() => {
    // A thousand processes that a failed test left would slow down everything after it.
    for (const pid of [1, 2, 3].flatMap((n) => sleeping(span(n)))) process.kill(Number(pid), "SIGKILL");
  });
  const bomb = (seconds: number) => `for i in $(seq 1500); do sleep ${seconds} & done; sleep ${seconds}`;
  const REFUSED = /sandbox\.limits\.processes allows 512|Resource temporarily unavailable/;
  const linux = process.platform === "linux";

  test.skipIf(!linux).each(sample([["auto"], ["none"]]))(
    "1,500 processes are refused, sandbox: %s",
    async (backend) => {
      const at = await instance({ policy: { mode: "record" }, sandbox: { backend } });
      const most = await allowedStall(at.lares);
      const seconds = backend === "auto" ? span(1) : span(2);
      const { value, worstMs } = await watched("1,500 processes", at.lares, () =>
        run(at, bomb(seconds), { timeout_s: 60 }),
      );
      expect(value).toMatch(REFUSED);
      expect(sleepers(seconds)).toBe(0);
      expect(worstMs).toBeLessThan(most);
    },
  );

  test.skipIf(!linux)("a command in the background is bound too", async () => {
    const at = await shared();
    await run(at, bomb(span(3)), { background: true });
    const peak = await until("the processes to be there", () => sleepers(span(3)) > 100 && sleepers(span(3)));
    expect(peak).toBeLessThan(1500);
    await until("the processes to be gone", () => sleepers(span(3)) === 0, { withinMs: 30_000 });
  });

  test.skipIf(!linux)("2 GB in /tmp do not fit", async (context) => {
    if (!needs("bwrap", "the size of /tmp in the sandbox")) context.skip();
    const at = await shared();
    for (const folder of ["/tmp", "/var/tmp", "/dev/shm"]) {
      const said = await run(at, `dd if=/dev/zero of=${folder}/x bs=1M count=2048 2>&1 | head -1`, { timeout_s: 60 });
      expect(said).toContain("No space left on device");
    }
    expect(await run(at, "touch /dev/x")).toContain("Read-only file system");
  });

  test.skipIf(!linux)("memory of one process, of all together, and the size of a file are bound", async () => {
    const limits = { memoryMb: 200, fileMb: 10 };
    for (const backend of sample(["auto", "none"])) {
      const at = await instance({ policy: { mode: "record" }, sandbox: { backend, limits } });
      // tail keeps what it reads: there is no end of line in it.
      const one = await run(at, "head -c 600000000 /dev/zero | tail | wc -c");
      expect(one).toMatch(/memory exhausted|sandbox\.limits\.memoryMb allows 200/);
      const hold = "(head -c 120000000 /dev/zero | tail | sleep 20)";
      const together = await run(at, `${hold} & ${hold} & ${hold} & wait`);
      expect(together).toContain("sandbox.limits.memoryMb allows 200");
      expect(await run(at, "dd if=/dev/zero of=large bs=1M count=20; ls -l large")).toMatch(
        /File too large|SIGXFSZ|10485760/,
      );
    }
  });

  test.skipIf(!linux)("open files of whoever started Lares do not reach commands", async () => {
    const folder = scratch("descriptors");
    writeFileSync(join(folder, "secret"), "the-inherited-secret");
    const start = join(folder, "start");
    const shell = `exec 200<${folder}/secret 251>>${folder}/log 17<${folder}/secret\nexec ${process.execPath} "$@"`;
    writeFileSync(start, `#!/bin/bash\n${shell}\n`, { mode: 0o755 });
    const model = await startModel();
    closing.push(() => model.close());
    for (const backend of sample(["auto", "none"])) {
      const config = { policy: { mode: "record" }, sandbox: { backend } };
      const lares = await startLares({ env: model.env, config, node: start });
      closing.push(() => lares.dispose());
      const look = "cat <&200; cat <&17; echo spoiled >&251";
      for (const more of [{}, { pty: true }]) {
        const said = await run({ lares, model }, look, more);
        expect(said).not.toContain("the-inherited-secret");
        for (const fd of [17, 200, 251]) expect(said).toContain(`${fd}: Bad file descriptor`);
      }
      await run({ lares, model }, `(${look}) > seen 2>&1; touch seen.all`, { background: true });
      await until("the background command", () => existsSync(join(lares.workspace(), "seen.all")));
      const seen = readFileSync(join(lares.workspace(), "seen"), "utf8");
      for (const fd of [17, 200, 251]) expect(seen).toContain(`${fd}: Bad file descriptor`);
      expect(readFileSync(join(folder, "log"), "utf8")).toBe("");
    }
  });
});

/** Opens connections in batches, each sending at most `first`. */
async function openSilent(lares: Lares, count: number, first = ""): Promise<{ sockets: Socket[]; open: () => number }> {
  const { port } = new URL(lares.url);
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", () => {});
    if (first) socket.write(first);
    socket.resume();
    sockets.push(socket);
    if (i % 100 === 99)
      await new Promise<void>((resolve) => (socket.connecting ? socket.once("connect", resolve) : resolve()));
  }
  return { sockets, open: () => sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length };
}

/** Over a connection of its own, as a newcomer. */
function freshHealth(lares: Lares): Promise<Response> {
  return fetch(`${lares.url}/healthz`, { headers: { connection: "close" }, signal: AbortSignal.timeout(5000) });
}
