/** One app in this process on a temporary home, spoken to over its real port. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { type RunningApp, type StartOptions, startApp } from "../../src/app/index.ts";
import type { Frame, MethodName, Params, Result } from "../../src/core/protocol/index.ts";
import { readEnvironment } from "../../src/ground/config/index.ts";
import { createLog, type Logbook } from "../../src/ground/observe/index.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server/index.ts";
import { pretend } from "../support/pretend.ts";

export const TOKEN = "owner-token-0123456789abcdef";

export interface TestInstance {
  app: RunningApp;
  home: string;
  log: Logbook;
  /** Everything the log wrote. */
  written: string[];
  rpc<M extends MethodName>(method: M, params: Params<M>, how?: { token?: string; key?: string }): Promise<Result<M>>;
  /** Any request, with the headers exactly as given. */
  ask(path: string, how?: Ask): Promise<Answer>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface Ask {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  json: Record<string, unknown>;
}

export class RpcError extends Error {
  readonly status: number;
  readonly code: string;
  readonly body: { code: string; message: string; hint?: string; details?: Record<string, unknown> };
  constructor(status: number, body: RpcError["body"]) {
    super(`${status} ${body.code}: ${body.message}`);
    this.status = status;
    this.code = body.code;
    this.body = body;
  }
}

export interface TestInstanceOptions extends Partial<Omit<StartOptions, "env">> {
  env?: Record<string, string>;
  config?: string;
}

export async function openInstance(options: TestInstanceOptions = {}): Promise<TestInstance> {
  const { env = {}, config, ...rest } = options;
  const home = options.home ?? mkdtempSync(join(tmpdir(), "lares-gw-"));
  mkdirSync(home, { recursive: true, mode: 0o700 });
  if (config !== undefined) writeFileSync(join(home, "lares.yaml"), config, { mode: 0o600 });
  const written: string[] = [];
  const start = async () => {
    const log = createLog({ level: "info", stream: { write: (line) => written.push(line) } });
    const environment = readEnvironment({ HOME: home, LARES_HOME: home, LARES_TOKEN: TOKEN, ...env });
    const app = await startApp({ env: environment, home, port: 0, version: "0.0.0-test", log, ...rest });
    return { app, log };
  };
  let now = await start();
  const instance: TestInstance = {
    get app() {
      return now.app;
    },
    get log() {
      return now.log;
    },
    home,
    written,
    ask: (path, how) => ask(now.app.url, path, how),
    async rpc(method, params, how = {}) {
      const answer = await ask(now.app.url, `/rpc/${method}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${how.token ?? TOKEN}`,
          ...(how.key ? { "idempotency-key": how.key } : {}),
        },
        body: JSON.stringify(params),
      });
      if (answer.status >= 400) throw new RpcError(answer.status, answer.json.error as RpcError["body"]);
      return pretend(answer.json);
    },
    async restart() {
      await now.app.stop();
      now = await start();
    },
    async stop() {
      await now.app.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
  return instance;
}

/** Plain node:http: it sends the headers it is told, Host and Origin included. */
export function ask(url: string, path: string, { method = "GET", headers = {}, body }: Ask = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const at = new URL(url);
    const req = httpRequest({ host: at.hostname, port: at.port, path, method, headers, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        let json: Record<string, unknown> = {};
        try {
          json = JSON.parse(text) as Record<string, unknown>;
        } catch {
          // Not every answer is JSON.
        }
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text, json });
      });
    });
    req.on("error", reject);
    req.end(body);
  });
}

export const bearer = (token = TOKEN) => ({ authorization: `Bearer ${token}` });

export type Got = Extract<Frame, { type: "res" }> | Extract<Frame, { type: "event" }>;

export class Socket {
  readonly raw: WebSocket;
  readonly frames: Got[] = [];
  closed: { code: number; reason: string } | undefined;
  /** The HTTP status of a refused upgrade. */
  refused: number | undefined;
  private next = 0;
  private readonly wakers = new Set<() => void>();

  constructor(url: string, headers: Record<string, string> = {}) {
    this.raw = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers });
    this.raw.on("message", (data) => {
      this.frames.push(JSON.parse(String(data)) as Got);
      this.wake();
    });
    this.raw.on("close", (code, reason) => {
      this.closed = { code, reason: String(reason) };
      this.wake();
    });
    this.raw.on("unexpected-response", (_req, res) => {
      this.refused = res.statusCode ?? 0;
      this.raw.terminate();
      this.wake();
    });
    this.raw.on("error", () => this.wake());
    this.raw.on("open", () => this.wake());
  }

  private wake(): void {
    for (const waker of this.wakers) waker();
  }

  until<T>(what: string, look: () => T | undefined, ms = 5000): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.wakers.delete(check);
        reject(
          new Error(
            `waited in vain for ${what}; frames: ${JSON.stringify(this.frames.slice(-5))} closed: ${JSON.stringify(this.closed)}`,
          ),
        );
      }, ms);
      const check = () => {
        const found = look();
        if (found === undefined || (found as unknown) === false) return;
        clearTimeout(timer);
        this.wakers.delete(check);
        resolve(found);
      };
      this.wakers.add(check);
      check();
    });
  }

  opened(): Promise<unknown> {
    return this.until("the socket to open", () => this.raw.readyState === WebSocket.OPEN || undefined);
  }

  over(): Promise<{ code: number; reason: string }> {
    return this.until("the socket to close", () => this.closed);
  }

  send(method: string, params: unknown = {}): string {
    const id = String(++this.next);
    this.raw.send(JSON.stringify({ type: "req", id, method, params }));
    return id;
  }

  async call(method: string, params: unknown = {}): Promise<Extract<Got, { type: "res" }>> {
    const id = this.send(method, params);
    return this.until(`the answer of ${method}`, () =>
      this.frames.find((f): f is Extract<Got, { type: "res" }> => f.type === "res" && f.id === id),
    );
  }

  event(name: string, which: (payload: Record<string, unknown>) => boolean = () => true) {
    return this.until(`the event ${name}`, () =>
      this.events(name).find((f) => which(f.payload as Record<string, unknown>)),
    );
  }

  events(name: string) {
    return this.frames.filter((f): f is Extract<Got, { type: "event" }> => f.type === "event" && f.event === name);
  }

  close(): void {
    this.raw.close();
  }
}

/** A instance whose model is the scripted server. */
export async function openScripted(options: TestInstanceOptions = {}): Promise<TestInstance & { model: ModelServer }> {
  const model = await startModelServer();
  const env = {
    OPENAI_API_KEY: "sk-test-000000000000",
    OPENAI_BASE_URL: `${model.url}/v1`,
    LARES_MODEL: "openai/scripted",
    ...options.env,
  };
  const instance = await openInstance({ ...options, env });
  const stop = instance.stop.bind(instance);
  return Object.defineProperties(instance, {
    model: { value: model },
    stop: {
      value: async () => {
        await stop();
        await model.close();
      },
    },
  }) as TestInstance & { model: ModelServer };
}

export async function until<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  ms = 5000,
): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const found = await look();
    if (found !== undefined && (found as unknown) !== false) return found;
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Signs in as the page's script does; the headers with which the login speaks. */
export async function signIn(
  at: TestInstance,
  link = at.app.loginUrl(),
): Promise<{ cookie: string; "x-lares-proof": string }> {
  const answer = await at.ask("/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: /code=(.+)$/.exec(link)?.[1] }),
  });
  if (answer.status !== 200) throw new Error(`POST /login: ${answer.status} ${answer.text}`);
  const cookie = String(answer.headers["set-cookie"]).split(";")[0]!;
  return { cookie, "x-lares-proof": (answer.json as { proof: string }).proof };
}
