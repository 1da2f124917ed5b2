/**
 * The whole app in this process: real HTTP, real records, a clock that stands where the test puts it, and the scripted model behind
 * one of the four wire protocols. What a test looks at is the request the model received.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type RunningApp, startApp } from "../../src/app/index.ts";
import { type Clock, systemClock } from "../../src/core/kit/index.ts";
import type { ChatAnswer, MethodName, Params, Result } from "../../src/core/protocol/index.ts";
import { readEnvironment } from "../../src/ground/config/index.ts";
import {
  envelopeOf,
  type ModelServer,
  type NormalMessage,
  PromptCache,
  type Protocol,
  type SeenRequest,
  startModelServer,
  textOf,
} from "../fakes/model-server/index.ts";
import { scratch } from "../support/index.ts";

export const TOKEN = "mind-test-token-0123456789";
/** A Sunday, as the reference has it. */
export const START = Date.parse("2026-11-15T13:09:00Z");

/** A model of each family that speaks the protocol. */
export const MODELS = {
  anthropic: "claude-sonnet-4-5",
  "openai-chat": "qwen3",
  "openai-responses": "gpt-5",
  google: "gemini-3-pro",
} as const satisfies Record<Protocol, string>;

export const PROTOCOLS = Object.keys(MODELS) as Protocol[];

/** Shows the time it was given. Timers run in real time, or at once when the clock is moved past them. */
export class TestClock implements Clock {
  private time: number;
  private setAt = performance.now();
  private readonly ticks: boolean;
  private readonly timers = new Set<{ at: number; fire: () => void }>();

  /** `ticks`: it goes on from where it was put, as what waits for a time of day needs it. */
  constructor(start: number, ticks = false) {
    this.time = start;
    this.ticks = ticks;
  }

  now(): number {
    return this.ticks ? Math.floor(this.time + performance.now() - this.setAt) : this.time;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.now() + ms, fire: () => {} };
    const stop = systemClock.after(ms, () => timer.fire());
    const end = () => {
      stop();
      this.timers.delete(timer);
    };
    timer.fire = () => {
      end();
      run();
    };
    this.timers.add(timer);
    return end;
  }

  set(time: number | string): void {
    this.time = typeof time === "string" ? Date.parse(time) : time;
    this.setAt = performance.now();
    const due = [...this.timers].filter((timer) => timer.at <= this.time).sort((a, b) => a.at - b.at);
    for (const timer of due) timer.fire();
  }

  advance(ms: number): void {
    this.set(this.now() + ms);
  }
}

export interface RigOptions {
  protocol?: Protocol;
  /** The model's window in tokens. */
  window?: number;
  /** False: a model that is shown no pictures. */
  sees?: boolean;
  config?: Record<string, unknown>;
  /** Written below the home before the start. */
  files?: Record<string, string>;
  env?: Record<string, string>;
  start?: number;
  /** The clock goes on by itself. */
  ticks?: boolean;
}

export type Rig = Awaited<ReturnType<typeof startRig>>;

export async function startRig(options: RigOptions = {}) {
  const { protocol = "anthropic", window = 200_000, config = {}, files = {}, start = START } = options;
  const home = scratch("mind");
  const clock = new TestClock(start, options.ticks);
  const model: ModelServer = await startModelServer({ cache: new PromptCache() });
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  const { models, ...rest } = config as { models?: object };
  const providers = {
    p: {
      api: protocol,
      baseUrl: model.url,
      keys: ["test-key-of-the-scripted-model"],
      models: { [MODELS[protocol]]: { contextWindow: window, images: options.sees ?? true } },
    },
  };
  put(
    "lares.yaml",
    JSON.stringify({
      policy: { mode: "record" },
      time: { zone: "UTC" },
      // Looking for facts asks the model too, and would be among its requests.
      memory: { capture: { use: "off" } },
      models: { default: `p/${MODELS[protocol]}`, providers, ...models },
      ...rest,
    }),
  );
  for (const [path, text] of Object.entries(files)) put(path, text);
  const open = () => {
    const env = { LARES_TOKEN: TOKEN, PATH: process.env.PATH ?? "", HOME: home, ...options.env };
    return startApp({ env: readEnvironment(env), home, port: 0, version: "test", clock });
  };
  let app: RunningApp = await open();

  async function post<T>(path: string, body: unknown): Promise<T> {
    const answer = await fetch(app.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const json = (await answer.json()) as T & { error?: { message: string } };
    if (answer.status >= 400) throw new Error(`${path}: ${json.error?.message}`);
    return json;
  }
  return {
    home,
    clock,
    model,
    put,
    get url() {
      return app.url;
    },
    post,
    rpc: <M extends MethodName>(method: M, params: Params<M>) => post<Result<M>>(`/rpc/${method}`, params),
    /** Says something as the owner over HTTP; gives the answer. */
    chat: (user: string, message: string) => post<ChatAnswer>("/chat", { user_id: user, message }),
    /** The newest request the model received. */
    last: (): SeenRequest => model.requests.at(-1)!,
    async restart() {
      await app.stop();
      app = await open();
    },
    async stop() {
      await app.stop();
      await model.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export const sessionOf = (user: string) => `agent:main:http:owner:${user}`;

/** The newest message of a person or an event. */
export function lastSaid(request: SeenRequest): NormalMessage {
  return request.messages.findLast((message) => message.role === "user")!;
}

/** The line Lares put before the newest message. */
export function env(request: SeenRequest): string {
  return envelopeOf(lastSaid(request)) ?? "";
}

export { textOf };

/** Bytes over four, as the bars are counted. */
export const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);
