/**
 * The running program: home, lock, config, house, gateway. Starts in an order that makes the first error the clearest one, and
 * stops so that nothing is lost.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../core/domain/index.ts";
import { type Clock, crashAt, type Log, makeBus, randomIds, systemClock } from "../core/kit/index.ts";
import { createModels } from "../edges/models/index.ts";
import { type Gateway, startGateway } from "../faces/gateway/index.ts";
import { type Environment, loadConfig } from "../ground/config/index.ts";
import { createLog, type Logbook } from "../ground/observe/index.ts";
import { lockHome } from "../ground/records/index.ts";
import { schema } from "./config.ts";
import { makeHandlers } from "./handlers.ts";
import { type House, openHouse } from "./house.ts";
import { proveRoom } from "./store.ts";
import { ensureToken, sameToken } from "./token.ts";

export interface StartOptions {
  env: Environment;
  home: string;
  port?: number;
  bind?: string;
  version: string;
  clock?: Clock;
  log?: Logbook;
}

export interface RunningApp {
  url: string;
  home: string;
  tokenFile: string;
  model: { id: string; practice: boolean; because: string };
  stop(): Promise<void>;
  /** Resolves with an exit code when the program ended by itself. */
  done: Promise<number>;
}

/** How long running turns get to reach a safe point; whatever does not is continued at the next start. */
const DRAIN_MS = 3000;
/** Between two looks whether a full disk has room again. */
const FULL_RETRY_MS = 1000;
/** How often old journals and idle sessions are looked for. */
const TIDY_MS = 3_600_000;

export async function startApp(options: StartOptions): Promise<RunningApp> {
  const { env, home, version } = options;
  const clock = options.clock ?? systemClock;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const log = options.log ?? createLog({ level: "warn" });
  for (const secret of env.secrets) log.redactor.addSecret(secret);
  const overrides = {
    ...(options.port === undefined ? {} : { "gateway.port": options.port }),
    ...(options.bind === undefined ? {} : { "gateway.bind": options.bind, "gateway.exposed": true }),
  };
  const loaded = await loadConfig({ home, env: env.variables, schema, overrides });
  for (const secret of loaded.secrets) log.redactor.addSecret(secret);
  const { config } = loaded;
  const crash = crashAt(env.crashAt);
  const lock = await lockHome(home);
  const token = ensureToken(home, env.token);
  log.redactor.addSecret(token);

  const ids = randomIds(() => clock.now());
  const bus = makeBus();
  const models = createModels(config.models as never, { env: modelVariables(env), clock, log: log.child("models") });
  let house: House | undefined;
  let trouble: string | undefined;
  let finish!: (code: number) => void;
  const done = new Promise<number>((resolve) => {
    finish = resolve;
  });
  let stopping = false;

  const build = async (): Promise<House> =>
    openHouse({ home, version, config, models, clock, ids, crash, bus, log, onFatal: (error) => void fell(error) });

  /** The records failed. A full disk is waited out with a new house; anything else ends the program. */
  const fell = async (error: AppError): Promise<void> => {
    if (stopping) return;
    trouble = error.message;
    log.error(error.message, { code: error.code, ...(error.hint ? { hint: error.hint } : {}) });
    const broken = house;
    house = undefined;
    broken?.outbox.stop();
    if (error.code !== "STORAGE_FULL") return finish(1);
    while (!stopping) {
      await new Promise((resolve) => setTimeout(resolve, FULL_RETRY_MS));
      try {
        house = await build();
        // Proves that there is room: a write as large as a turn's.
        await proveRoom(house.records);
        trouble = undefined;
        log.warn("there is room again: Lares goes on");
        return;
      } catch {
        house = undefined;
      }
    }
  };

  let gateway: Gateway;
  try {
    house = await build();
    const startedAt = clock.now();
    const current = (): House => {
      if (!house)
        throw new AppError("STORAGE_FULL", {
          message: trouble ?? "Lares is not ready.",
          hint: "Free some space; Lares goes on by itself.",
          retry: "later",
        });
      return house;
    };
    const handlers = makeHandlers({
      home,
      version,
      config,
      models,
      clock,
      ids,
      house: current,
      url: () => gateway.url,
      startedAt,
      problems: () => (trouble ? [trouble] : []),
    });
    const owner = { id: "owner", scopes: new Set(["read", "write", "approvals", "admin"] as const) };
    gateway = await startGateway({
      config: config.gateway as never,
      version,
      authenticate: (given) => (given && sameToken(given, token) ? owner : undefined),
      handlers: () => handlers,
      notReady: () => trouble,
      webhook: (account, headers, body) => {
        const channel = current().webhooks.get(account);
        if (!channel) throw new AppError("CHANNEL_UNKNOWN", { message: `There is no webhook account "${account}".` });
        return channel.receive(headers, body);
      },
      bus,
      log: log.child("gateway"),
    });
  } catch (error) {
    stopping = true;
    await house?.stop(0).catch(() => {});
    lock.release();
    throw error;
  }
  const noteFile = join(home, "gateway.json");
  writeFileSync(
    noteFile,
    `${JSON.stringify({ pid: process.pid, url: gateway.url, port: gateway.port, startedAt: clock.now() })}\n`,
    { mode: 0o600 },
  );
  // After ready, so that the first turn is warm and the start is not slowed.
  setImmediate(() => void models.warm());
  const tidying = setInterval(() => void tidy(house, config.retention, log), TIDY_MS);
  tidying.unref();

  return {
    url: gateway.url,
    home,
    tokenFile: join(home, "token"),
    model: models.primary(),
    done,
    async stop() {
      if (stopping) return;
      stopping = true;
      clearInterval(tidying);
      await gateway.close();
      await house?.stop(DRAIN_MS);
      rmSync(noteFile, { force: true });
      lock.release();
      await log.flush();
    },
  };
}

async function tidy(
  house: House | undefined,
  keep: { sessionDays: number; journalDays: number },
  log: Log,
): Promise<void> {
  try {
    await house?.engine.prune(systemClock.now() - keep.journalDays * 86_400_000);
    if (keep.sessionDays > 0) await house?.sessions.prune(keep.sessionDays * 86_400_000, false);
  } catch (error) {
    log.warn("tidying failed", { error: String(error) });
  }
}

function modelVariables(env: Environment): Record<string, string | undefined> {
  const m = env.models;
  return {
    ANTHROPIC_API_KEY: m.anthropicApiKey,
    ANTHROPIC_BASE_URL: m.anthropicBaseUrl,
    OPENAI_API_KEY: m.openaiApiKey,
    OPENAI_BASE_URL: m.openaiBaseUrl,
    GEMINI_API_KEY: m.geminiApiKey,
    OPENROUTER_API_KEY: m.openrouterApiKey,
    OLLAMA_BASE_URL: m.ollamaBaseUrl,
    LARES_MODEL: env.model,
  };
}
