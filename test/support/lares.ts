/**
 * The real program as a child process: `node dist/main.js gateway run --home … --port 0`. Tests talk to it over HTTP only,
 * kill it hard, and start it again on the same home.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChatAnswer, MethodName, Params, Result } from "../../src/core/protocol/index.ts";
import { pretend } from "./pretend.ts";
import { scratch } from "./scratch.ts";
import { until } from "./until.ts";

/** Built by `npm test` before the tests run. Another build can be named, e.g. to test an installed package. */
export const PROGRAM = process.env.LARES_TEST_PROGRAM ?? fileURLToPath(new URL("../../dist/main.js", import.meta.url));

export const TOKEN = "test-token-0123456789abcdef";

export interface LaresOptions {
  /** An existing home; a temporary one that goes with `dispose` otherwise. */
  home?: string;
  /** Added to a clean environment. */
  env?: Record<string, string>;
  /** Written as lares.yaml (JSON is YAML). A string is written as it is. */
  config?: object | string;
  /** The Node to run it with. */
  node?: string;
  /** Run instead of the built program. */
  program?: string;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Answered {
  status: number;
  headers: Headers;
  text: string;
  json: Record<string, unknown>;
}

export interface ErrorBody {
  code: string;
  message: string;
  hint?: string;
}

/** An answer of `/chat`, or the error it gave instead. */
export type Chatted = ChatAnswer & { status: number; headers: Headers; error?: ErrorBody };

export class RpcFailed extends Error {
  readonly status: number;
  readonly error: ErrorBody;
  constructor(status: number, error: ErrorBody) {
    super(`${status} ${error?.code}: ${error?.message}`);
    this.status = status;
    this.error = error;
  }
}

/** Every job, page by page. */
export async function allJobs(lares: Lares, search?: string): Promise<Result<"schedule.list">["jobs"]> {
  const jobs: Result<"schedule.list">["jobs"] = [];
  for (let cursor: string | undefined; ; ) {
    const q = { limit: 500, ...(search ? { search } : {}), ...(cursor ? { cursor } : {}) };
    const page = await lares.rpc("schedule.list", q);
    jobs.push(...page.jobs);
    cursor = page.cursor;
    if (!cursor) return jobs;
  }
}

export class Lares {
  readonly home: string;
  url = "";
  token = TOKEN;
  private child: ChildProcess | undefined;
  private ended: Promise<Ended> = Promise.resolve({ code: null, signal: null });
  private said = "";
  private readonly options: LaresOptions;
  private readonly ownsHome: boolean;

  constructor(options: LaresOptions = {}) {
    this.options = options;
    this.ownsHome = options.home === undefined;
    this.home = options.home ?? scratch("flow");
    mkdirSync(this.home, { recursive: true });
    if (options.config !== undefined) this.configure(options.config);
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  /** Everything it printed since the last start. */
  get output(): string {
    return this.said;
  }

  /** Resolves when the present process is gone. */
  get gone(): Promise<Ended> {
    return this.ended;
  }

  /** The agent's own folder to work in. */
  workspace(agent = "main"): string {
    return join(this.home, "agents", agent, "workspace");
  }

  configure(config: object | string): void {
    writeFileSync(join(this.home, "lares.yaml"), typeof config === "string" ? config : JSON.stringify(config, null, 2));
  }

  /** Starts the process and does not wait until it serves. */
  spawn(env: Record<string, string> = {}): void {
    const all: Record<string, string> = {
      PATH: process.env.PATH ?? "",
      HOME: this.home,
      LARES_TOKEN: TOKEN,
      // Hints as an installed program gives them; from a clone they name the script.
      LARES_COMMAND: "lares",
      ...this.options.env,
      ...env,
    };
    const program = this.options.program ?? PROGRAM;
    if (!existsSync(program)) throw new Error(`${program} is not built. Run: npm run build`);
    this.token = all.LARES_TOKEN ?? "";
    this.said = "";
    const child = spawn(
      this.options.node ?? process.execPath,
      [program, "gateway", "run", "--home", this.home, "--port", "0"],
      { env: all, stdio: ["ignore", "pipe", "pipe"] },
    );
    this.child = child;
    const keep = (chunk: Buffer) => {
      this.said += chunk.toString("utf8");
    };
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    this.ended = new Promise((resolve) => {
      child.once("error", () => resolve({ code: -1, signal: null }));
      child.once("close", (code, signal) => resolve({ code, signal }));
    });
  }

  async start(env: Record<string, string> = {}): Promise<this> {
    this.spawn(env);
    await this.ready();
    return this;
  }

  /** Waits until it serves; fails with what it printed when it ends instead. */
  async ready(withinMs = 20_000): Promise<void> {
    const child = this.child!;
    let gone: Ended | undefined;
    void this.ended.then((end) => {
      gone = end;
    });
    await until(
      "Lares to be ready",
      async () => {
        if (gone) throw new Error(`Lares ended (${gone.signal ?? gone.code}) before it was ready:\n${this.said}`);
        const url = this.noted(child.pid!);
        if (!url) return undefined;
        const answer = await fetch(`${url}/readyz`).catch(() => undefined);
        await answer?.arrayBuffer();
        if (answer?.status !== 200) return undefined;
        this.url = url;
        return true;
      },
      { withinMs, instead: () => this.said },
    );
    if (!this.token) this.token = readFileSync(join(this.home, "token"), "utf8").trim();
  }

  private noted(pid: number): string | undefined {
    try {
      const note = JSON.parse(readFileSync(join(this.home, "gateway.json"), "utf8")) as { pid: number; url: string };
      return note.pid === pid ? note.url : undefined;
    } catch {
      return undefined;
    }
  }

  async request(
    method: string,
    path: string,
    options: { body?: unknown; raw?: string; headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Answered> {
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
    const text = await response.text();
    let json: Record<string, unknown> = {};
    try {
      json = JSON.parse(text) as Record<string, unknown>;
    } catch {
      // Not every answer is JSON.
    }
    return { status: response.status, headers: response.headers, text, json };
  }

  async rpc<M extends MethodName>(method: M, params: Params<M>, headers?: Record<string, string>): Promise<Result<M>> {
    const answer = await this.request("POST", `/rpc/${method}`, { body: params, ...(headers ? { headers } : {}) });
    if (answer.status >= 400) throw new RpcFailed(answer.status, answer.json.error as ErrorBody);
    return answer.json as Result<M>;
  }

  async chat(
    user: string,
    message: string,
    options: { key?: string; agent?: string; session?: string; signal?: AbortSignal } = {},
  ): Promise<Chatted> {
    const { key, signal, ...more } = options;
    const { status, headers, json } = await this.request("POST", "/chat", {
      body: { user_id: user, message, ...more },
      ...(key ? { headers: { "idempotency-key": key } } : {}),
      ...(signal ? { signal } : {}),
    });
    return { ...pretend<ChatAnswer>(json), status, headers };
  }

  /** Ends it as a power cut would, and waits until the kernel has. */
  async kill9(): Promise<Ended> {
    this.child?.kill("SIGKILL");
    return this.ended;
  }

  /** Ends it as a supervisor would. */
  async stop(): Promise<Ended> {
    this.child?.kill("SIGTERM");
    return this.ended;
  }

  /** Another life on the same home. Kills the present one when it still lives. */
  async restart(env: Record<string, string> = {}): Promise<this> {
    await this.kill9();
    return this.start(env);
  }

  async dispose(): Promise<void> {
    await this.kill9();
    if (this.ownsHome) rmSync(this.home, { recursive: true, force: true });
  }
}

/** A started Lares. */
export function startLares(options: LaresOptions = {}): Promise<Lares> {
  return new Lares(options).start();
}
