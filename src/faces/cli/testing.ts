/** For tests: a gateway that speaks the real protocol and checks every word it hears, a terminal, and a command in it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { AppError, ERROR_CODES, type LiveEvent, toErrorShape } from "../../core/domain/index.ts";
import {
  type Approval,
  isMethod,
  METHODS,
  type MethodName,
  type Parsed,
  type Result,
  type TurnDetail,
} from "../../core/protocol/index.ts";
import { defineConfig, readEnvironment } from "../../ground/config/index.ts";
import { type CliPorts, type OnSignal, runCli } from "./index.ts";

export const TOKEN = "lares_test_token";
export const NOW = 1_750_000_000_000;

export type Handlers = {
  [M in MethodName]?: (params: Parsed<M>) => Result<M> | Promise<Result<M>>;
};

export interface FakeGateway {
  home: string;
  url: string;
  handlers: Handlers;
  /** Methods that the registry may not have yet; those it has are checked as ever. */
  more: Record<string, (params: Record<string, unknown>) => unknown>;
  calls: { method: string; params: unknown }[];
  callsOf(method: string): unknown[];
  /** Params of WebSocket logins. */
  logins: Record<string, unknown>[];
  emit(event: LiveEvent): void;
  /** Drops every socket, as a network would. */
  cut(): void;
  stop(): Promise<void>;
  /** A new process on another port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function fakeGateway(handlers: Handlers = {}, more: FakeGateway["more"] = {}): Promise<FakeGateway> {
  const home = mkdtempSync(join(tmpdir(), "lares-cli-"));
  let server: Server;
  let wss: WebSocketServer;
  let boot = 0;
  let seq = 0;
  let kept: object[] = [];
  const ready = new Set<WebSocket>();

  const gateway: FakeGateway = {
    home,
    url: "",
    handlers,
    more,
    calls: [],
    logins: [],
    callsOf: (method) => gateway.calls.filter((c) => c.method === method).map((c) => c.params),
    emit(event) {
      const { event: name, ...payload } = event;
      const frame = { type: "event", event: name, payload, seq: ++seq };
      if (name !== "turn.delta") kept.push(frame);
      for (const socket of ready) socket.send(JSON.stringify(frame));
    },
    cut() {
      for (const socket of wss.clients) socket.terminate();
    },
    async stop() {
      gateway.cut();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    async start() {
      boot++;
      seq = 0;
      kept = [];
      server = createServer((request, response) => {
        const parts: Buffer[] = [];
        request.on("data", (part: Buffer) => parts.push(part));
        request.on("end", async () => {
          const { status, body } = await serve(request.url ?? "", request.headers.authorization, Buffer.concat(parts));
          response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
        });
      });
      wss = new WebSocketServer({ server, path: "/ws" });
      wss.on("connection", (socket) => welcome(socket));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      gateway.url = `http://127.0.0.1:${port}`;
      writeFileSync(join(home, "gateway.json"), JSON.stringify({ pid: 1, url: gateway.url, port, startedAt: NOW }));
    },
    async close() {
      await gateway.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };

  async function serve(
    path: string,
    auth: string | undefined,
    raw: Buffer,
  ): Promise<{ status: number; body: unknown }> {
    const method = path.replace(/^\/rpc\//, "");
    try {
      if (auth !== `Bearer ${TOKEN}`) throw new AppError("UNAUTHORIZED", { message: "A token is needed." });
      const given = JSON.parse(raw.toString("utf8")) as Record<string, unknown>;
      const later = Object.hasOwn(gateway.more, method) ? gateway.more[method] : undefined;
      if (!isMethod(method)) {
        if (!later) throw new AppError("UNKNOWN_METHOD", { message: `There is no method "${method}".` });
        gateway.calls.push({ method, params: given });
        return { status: 200, body: await later(given) };
      }
      const params = METHODS[method].in.parse(given) as Record<string, unknown>;
      gateway.calls.push({ method, params });
      const handler = (gateway.handlers[method] as typeof later) ?? later;
      if (!handler) throw new Error(`the test has no handler for ${method}`);
      return { status: 200, body: METHODS[method].out.parse(await handler(params)) };
    } catch (error) {
      const shape = toErrorShape(error);
      return { status: ERROR_CODES[shape.code], body: { error: shape } };
    }
  }

  function welcome(socket: WebSocket): void {
    socket.on("close", () => ready.delete(socket));
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as {
        id: string;
        method: string;
        params: Record<string, unknown>;
      };
      if (frame.method !== "connect" || frame.params.token !== TOKEN) return socket.close(4003, "wrong token");
      gateway.logins.push(frame.params);
      const name = `boot-${boot}`;
      socket.send(JSON.stringify({ type: "res", id: frame.id, ok: true, payload: { boot: name } }));
      socket.send(JSON.stringify({ type: "event", event: "hello", payload: { boot: name, seq }, seq }));
      const reload = { type: "event", event: "reload", payload: { boot: name, seq }, seq };
      if (frame.params.boot !== undefined && frame.params.boot !== name) socket.send(JSON.stringify(reload));
      if (frame.params.boot === name) {
        for (const missed of kept) {
          if ((missed as { seq: number }).seq > Number(frame.params.lastSeq)) socket.send(JSON.stringify(missed));
        }
      }
      ready.add(socket);
    });
  }

  await gateway.start();
  return gateway;
}

export interface Ran {
  code: Promise<number>;
  out(): string;
  err(): string;
  /** The terminal as a person sees it, without trailing blanks. */
  screen(): string[];
  type(keys: string): void;
  signal(name: "SIGINT" | "SIGTERM"): void;
}

export type RunOptions = Partial<Omit<CliPorts, "stdin" | "stdout" | "stderr">> & {
  home: string;
  /** Variables beside those every test has. */
  variables?: Record<string, string>;
  tty?: boolean;
  input?: string;
  columns?: number;
};

/** Runs a command as somebody at a terminal would, or with `tty: false` as a script would. */
export function cli(argv: string[], options: RunOptions): Ran {
  const { home, tty = false, input, columns = 80, variables = {}, ...ports } = options;
  const stdin = Object.assign(new PassThrough(), { isTTY: tty, setRawMode: () => {} });
  const stdout = Object.assign(new PassThrough(), { isTTY: tty, columns });
  const stderr = Object.assign(new PassThrough(), { isTTY: tty, columns });
  const text = { out: "", err: "" };
  stdout.setEncoding("utf8").on("data", (part: string) => {
    text.out += part;
  });
  stderr.setEncoding("utf8").on("data", (part: string) => {
    text.err += part;
  });
  if (input !== undefined || !tty) stdin.end(input ?? "");
  const listeners = new Map<string, Set<() => void>>();
  const onSignal: OnSignal = (name, run) => {
    const set = listeners.get(name) ?? new Set();
    listeners.set(name, set.add(run));
    return () => set.delete(run);
  };
  const code = runCli(argv, {
    env: readEnvironment({ LARES_HOME: home, HOME: home, ...(tty ? { NO_COLOR: "1" } : {}), ...variables }),
    version: "1.2.3",
    stdin,
    stdout,
    stderr,
    runGateway: () => Promise.reject(new Error("not in this test")),
    readToken: () => TOKEN,
    readLogs: async (at) => ({ file: join(at, "lares.log"), tail: () => [], more: () => [], close() {} }),
    examineHome: async (at) => ({
      database: { file: join(at, "lares.db"), state: "missing", bytes: 0 },
      sandbox: { name: "bubblewrap", ok: true },
    }),
    backups: () => Promise.reject(new Error("not in this test")),
    configSchema: async () => defineConfig({}),
    onSignal,
    ...ports,
  });
  return {
    code,
    out: () => text.out,
    err: () => text.err,
    screen: () => emulate(text.out),
    type: (keys) => void stdin.write(keys),
    signal: (name) => {
      for (const run of listeners.get(name) ?? []) run();
    },
  };
}

/** Waits for a condition, never for a time. */
export async function until(condition: () => boolean): Promise<void> {
  const start = Date.now();
  while (!condition()) {
    if (Date.now() - start > 5000) throw new Error("waited 5 s in vain");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Enough of a terminal for what the screen writes: line feeds, returns, cursor up and right, clear below, colours. */
function emulate(text: string): string[] {
  const rows: string[] = [""];
  let row = 0;
  let column = 0;
  for (const [piece, csi, amount, verb] of text.matchAll(/(\u001b\[([?0-9;]*)([A-Za-z]))|[\s\S]/gu)) {
    if (csi) {
      if (verb === "A") row = Math.max(row - Number(amount || 1), 0);
      if (verb === "C") column += Number(amount || 1);
      if (verb === "J") {
        rows.length = row + 1;
        rows[row] = rows[row]!.slice(0, column);
      }
    } else if (piece === "\n") {
      row++;
      column = 0;
      rows[row] ??= "";
    } else if (piece === "\r") column = 0;
    else {
      rows[row] = rows[row]!.padEnd(column).slice(0, column) + piece + rows[row]!.slice(column + 1);
      column++;
    }
  }
  return rows.map((line) => line.trimEnd());
}

export function approval(over: Partial<Approval> = {}): Approval {
  return {
    id: "ap_0000000000000000abc123",
    turn: "t_1",
    session: "agent:main:http:owner:owner",
    agent: "main",
    tool: "exec",
    shown: "rm -rf build",
    because: "Commands ask unless a rule allows them.",
    state: "pending",
    askedAt: NOW,
    deadline: NOW + 3_600_000,
    ...over,
  };
}

export function turnDetail(over: Partial<TurnDetail> = {}): TurnDetail {
  return {
    turn: "t_1",
    session: "agent:main:http:owner:owner",
    agent: "main",
    state: "answered",
    acceptedAt: NOW,
    startedAt: NOW,
    endedAt: NOW + 4200,
    response: "Hello there.",
    notices: [],
    model: "anthropic/claude",
    usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, cost: 0.013 },
    approvals: [],
    restarts: [],
    steps: [
      {
        segment: 0,
        index: 0,
        kind: "step",
        name: "model:0",
        does: { kind: "model", call: 0 },
        state: "done",
        outcome: "ok",
        at: NOW,
        endedAt: NOW + 1000,
      },
      {
        segment: 0,
        index: 1,
        kind: "step",
        name: "judge:0",
        does: { kind: "judge" },
        state: "done",
        outcome: "ok",
        at: NOW + 1000,
        endedAt: NOW + 1001,
      },
      {
        segment: 0,
        index: 2,
        kind: "effect",
        name: "tool:exec:c1",
        does: { kind: "tool", tool: "exec", call: "c1" },
        state: "done",
        outcome: "ok",
        at: NOW + 1100,
        endedAt: NOW + 3000,
      },
      {
        segment: 0,
        index: 3,
        kind: "step",
        name: "model:1",
        does: { kind: "model", call: 1 },
        state: "done",
        outcome: "ok",
        at: NOW + 3000,
        endedAt: NOW + 4200,
      },
    ],
    deliveries: [],
    ...over,
  };
}

/** What a quiet Lares says of itself. */
export function quietStatus(over: Partial<Result<"status">> = {}): Result<"status"> {
  return {
    version: "1",
    pid: 7,
    home: "/h",
    url: "http://127.0.0.1:7717",
    uptimeMs: 1,
    model: { id: "practice/practice", practice: true, because: "no key was found" },
    turns: { queued: 0, running: 0, parked: 0 },
    approvals: { pending: 0 },
    attention: 0,
    deliveries: { waiting: 0, uncertain: 0, failed: 0 },
    channels: [],
    usageToday: {
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      cost: 0,
      calls: 1,
      unknownPrice: 0,
    },
    memory: { rss: 1, heapUsed: 1 },
    problems: [],
    ...over,
  };
}

/** A turn under way. */
export function openTurn(over: Partial<TurnDetail> = {}): TurnDetail {
  const { endedAt: _ended, response: _response, usage: _usage, ...rest } = turnDetail();
  return { ...rest, state: "running", steps: [], ...over };
}

export const SESSION = "agent:main:http:owner:owner";
