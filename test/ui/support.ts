/** The real program, a real Chromium and a model whose words come when the test says so. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import type { MethodName, Params, Result } from "../../src/core/protocol/index.ts";
import { anthropic } from "../fakes/model-server/anthropic.ts";
import { type Reply, seenTexts } from "../fakes/model-server/index.ts";
import { modelEnv, needs, PROGRAM, TOKEN, until } from "../support/index.ts";

export const CHROMIUM = process.env.LARES_CHROMIUM ?? "/usr/bin/chromium";
export const hasBrowser = existsSync(CHROMIUM);
/** Says NOT RUN where there is none; in each test file, because modules are shared between files. */
export const needsBrowser = (what: string) => needs("chromium", what, hasBrowser);

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function startBrowser(): Promise<Browser> {
  // Playwright gives every launch a user data folder of its own.
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** A gateway that keeps its port when it is killed and started again, as an installed one does. */
export class TestInstance {
  readonly home = mkdtempSync(join(tmpdir(), "lares-ui-"));
  readonly port: number;
  readonly env: Record<string, string>;
  private child: ChildProcess | undefined;
  private gone: Promise<void> = Promise.resolve();
  private said = "";

  constructor(port: number, env: Record<string, string>) {
    this.port = port;
    this.env = env;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<this> {
    const args = [PROGRAM, "gateway", "run", "--home", this.home, "--port", String(this.port)];
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: this.home,
      LARES_TOKEN: TOKEN,
      LARES_COMMAND: "lares",
      ...this.env,
    };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.child = child;
    for (const out of [child.stdout, child.stderr]) out?.on("data", (c: Buffer) => (this.said += c.toString("utf8")));
    this.gone = new Promise((resolve) => child.once("close", () => resolve()));
    await until(
      "the gateway to be ready",
      async () => (await fetch(`${this.url}/readyz`).catch(() => undefined))?.status === 200,
      { instead: () => this.said },
    );
    return this;
  }

  /** At once, for a process that is itself about to end. */
  end(): void {
    this.child?.kill("SIGKILL");
  }

  async kill9(): Promise<void> {
    this.end();
    await this.gone;
  }

  async dispose(): Promise<void> {
    await this.kill9();
    rmSync(this.home, { recursive: true, force: true });
  }

  async rpc<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    const answer = await fetch(`${this.url}/rpc/${method}`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify(params),
    });
    const body = (await answer.json()) as Result<M>;
    if (!answer.ok) throw new Error(`${method}: ${JSON.stringify(body)}`);
    return body;
  }

  async loginLink(): Promise<string> {
    const { url } = await this.rpc("login.code", {});
    return url.replace(/^https?:\/\/[^/]+/, this.url);
  }

  /** Signs in by a one-time link, as a person does, and gives cookie and storage for the contexts of a file's tests. */
  async signIn(browser: Browser): Promise<Awaited<ReturnType<BrowserContext["storageState"]>>> {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(await this.loginLink());
    await page.waitForURL(`${this.url}/`);
    const state = await context.storageState();
    await context.close();
    return state;
  }
}

export async function startInstance(env: Record<string, string> = {}): Promise<TestInstance> {
  return new TestInstance(await freePort(), env).start();
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createTcp().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/** What a page complained about: broken scripts and refused styles, pictures or connections. */
export function complaints(page: Page): string[] {
  const all: string[] = [];
  page.on("pageerror", (error) => all.push(`${error.message}\n${error.stack ?? ""}`));
  page.on("console", (message) => {
    if (message.type() === "error" || /Content.Security.Policy|violat/i.test(message.text())) all.push(message.text());
  });
  return all;
}

export type Scripted = Reply & {
  /** Called before each event after the first half: the test decides when the model goes on. */
  hold?: () => Promise<void>;
};

/** Speaks Anthropic's stream word by word. `script` gets what was said since the last answer. */
export async function startTalker(script: (said: string, request: { results: string[]; n: number }) => Scripted) {
  let n = 0;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => void answer(JSON.parse(Buffer.concat(chunks).toString("utf8")), res));
  });
  async function answer(body: Record<string, unknown>, res: ServerResponse): Promise<void> {
    const read = anthropic.read(body, String(body.model));
    const request = { ...read, protocol: "anthropic" as const, model: String(body.model), stream: true };
    const results = read.messages.flatMap((m) => m.parts.flatMap((p) => (p.type === "tool-result" ? [p.text] : [])));
    const reply = script(seenTexts(read.messages).join(" | "), { results, n: n++ });
    if (reply.fail?.status) return void res.writeHead(reply.fail.status).end(JSON.stringify({ error: reply.fail }));
    const figures = { input: 1200, output: 80, cacheRead: 0, cacheWrite: 0 };
    const events = anthropic.events({ pieces: 20, ...reply }, figures, request);
    res.writeHead(200, { "content-type": "text/event-stream" });
    for (const [i, event] of events.entries()) {
      if (i === Math.floor(events.length / 2)) await reply.hold?.();
      if (res.destroyed) return;
      res.write(event);
    }
    res.end();
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    env: modelEnv(url),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A door the test opens. */
export function gate(): { wait: () => Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { wait: () => opened, open };
}
