/** The real OpenClaw for the conformance script: one gateway for all checks, which nobody who drives it starts or stops. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GatewayAt, openClawStage } from "../contracts/runtime/openclaw-stage.ts";
import { type ModelServer, startModelServer } from "../fakes/model-server/index.ts";
import { until } from "../support/index.ts";
import type { RealStage } from "./conformance.ts";

/** A cold start on a busy machine. */
const START_MS = 180_000;
const TOKEN = "token-of-its-own-gateway";

export interface RealGateway extends GatewayAt {
  model: ModelServer;
  close(): Promise<void>;
}

export async function startRealGateway(node: string, program: string): Promise<RealGateway> {
  const home = mkdtempSync(join(tmpdir(), "lares-openclaw-"));
  const work = join(home, "workspace");
  for (const folder of [work, join(home, "tmp")]) mkdirSync(folder);
  const model = await startModelServer();
  const port = await freePort();
  writeFileSync(join(home, "openclaw.json"), JSON.stringify(makeSettings(model.url, port, work)));
  const env = {
    PATH: "/usr/bin:/bin",
    HOME: home,
    OPENCLAW_HOME: home,
    OPENCLAW_STATE_DIR: join(home, "state"),
    OPENCLAW_CONFIG_PATH: join(home, "openclaw.json"),
    OPENCLAW_NO_RESPAWN: "1",
    TMPDIR: join(home, "tmp"),
  };
  const args = [program, "gateway", "run", "--port", String(port)];
  const child = spawn(node, args, { env, cwd: home, stdio: "ignore", detached: true });
  const end = () => {
    try {
      process.kill(-child.pid!, "SIGKILL");
    } catch {
      // It is gone.
    }
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  };
  process.once("exit", end);
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until("OpenClaw's gateway", isReady, { withinMs: START_MS });
  return {
    port,
    token: TOKEN,
    work,
    model,
    heard: () => JSON.stringify(model.requests.at(-1)?.messages ?? []),
    connections: () => 0,
    async close() {
      process.off("exit", end);
      end();
      await model.close();
    },
  };
}

export function openRealClawStage(at: RealGateway): RealStage {
  const stage = openClawStage(at, { failing: "failing/scripted" });
  const { userHome, kept } = stage;
  return {
    ...stage,
    prompts: {
      ...stage.prompts,
      twice: (first, second, words) => `${makeMark(first)} then: ${makeMark(second)} then: say:${words}`,
      // Before each new try it adds words of its own: they stand in a part that is never reached.
      limited: (words) => `fail:rate-limit*2 retry-after:1 say:${words} then:`,
    },
    notes: () => [],
    endLeft: async () => {},
    killed: { runtime: "openclaw", folders: [], tag: "LARES_RUN", more: { userHome, kept } },
  };
}

function makeMark(mark: string): string {
  return `tool:exec {"command":"mktemp -p . mark.${mark}.XXXXXX"}`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function makeSettings(baseUrl: string, port: number, workspace: string): object {
  const cost = { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 };
  const scripted = {
    id: "scripted",
    name: "scripted",
    contextWindow: 200_000,
    maxTokens: 8000,
    input: ["text"],
    reasoning: true,
    cost,
  };
  const provider = { baseUrl, apiKey: "k", api: "anthropic-messages", models: [scripted] };
  return {
    gateway: { mode: "local", bind: "loopback", port, auth: { mode: "token", token: TOKEN } },
    update: { checkOnStart: false },
    models: { providers: { test: provider, failing: provider } },
    agents: { defaults: { model: { primary: "test/scripted" }, workspace, skipBootstrap: true } },
    tools: { toolSearch: false },
  };
}
