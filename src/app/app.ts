/**
 * The running program: home, lock, config, instance, gateway. Starts in an order that makes the first error the clearest one, and
 * stops so that nothing is lost.
 */
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentId, AppError, asId, isOver } from "../core/domain/index.ts";
import { type Clock, defined, faultsAt, type Log, makeBus, randomIds, systemClock, truthy } from "../core/kit/index.ts";
import { changingModels, createModels, type ModelEnv, type ModelsConfig } from "../edges/models/index.ts";
import { ownDoors } from "../flow/gate/index.ts";
import {
  type Environment,
  ensureHome,
  ensureToken,
  fileProblem,
  loadConfig,
  Settings,
} from "../ground/config/index.ts";
import { createLog, keepEventLog, keepHeapTight, type Logbook, openLogFile } from "../ground/observe/index.ts";
import { lockHome, proveRoom } from "../ground/records/index.ts";
import { makeResolver, openVault } from "../ground/vault/index.ts";
import { Watchdog } from "../ground/watchdog/index.ts";
import { schema } from "./config.ts";
import { type Instance, openInstance } from "./instance.ts";
import { openServer, type Server } from "./server.ts";

export interface StartOptions {
  env: Environment;
  home: string;
  port?: number;
  bind?: string;
  /** Says that listening beyond loopback is meant. */
  exposed?: boolean;
  /** Where the built UI is, when not beside the program. */
  uiDir?: string;
  version: string;
  /** How people call this program, for hints on the page and in chats; `lares` when it is left out. */
  program?: string;
  clock?: Clock;
  log?: Logbook;
}

export interface RunningApp {
  url: string;
  port: number;
  /** A new link that signs a browser in: good once, for ten minutes. */
  loginUrl(): string;
  /** Looks at lares.yaml now instead of within a second. Resolves when a change was taken in. */
  reload(): Promise<void>;
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
/** What a turn with a long answer writes, and some more. */
const ROOM_BYTES = 131_072;
/** How often old journals and idle sessions are looked for. */
const TIDY_MS = 3_600_000;

/** Rejects with a sentence that names the file and the way out, whatever the home is like. */
export async function startApp(options: StartOptions): Promise<RunningApp> {
  ensureHome(options.home);
  try {
    return await start(options);
  } catch (error) {
    throw error instanceof AppError ? error : (fileProblem(error, options.home) ?? error);
  }
}

async function start(options: StartOptions): Promise<RunningApp> {
  const { env, home, version, program = "lares" } = options;
  keepHeapTight();
  const clock = options.clock ?? systemClock;
  const log = options.log ?? createLog({ level: "warn", keep: "info" });
  for (const secret of env.secrets) log.redactor.addSecret(secret);
  const overrides = {
    ...defined({ "gateway.port": options.port, "gateway.bind": options.bind, "gateway.exposed": options.exposed }),
  };
  const vault = await openVault({ home, now: () => clock.now(), onSecret: (value) => log.redactor.addSecret(value) });
  const lookUp = makeResolver(vault);
  const loaded = await loadConfig({ home, env: env.variables, schema, overrides, lookUp });
  for (const secret of loaded.secrets) log.redactor.addSecret(secret);
  const bus = makeBus();
  const settings = new Settings({
    home,
    variables: env.variables,
    overrides,
    loaded,
    schema,
    bus,
    log: log.child("config"),
    lookUp,
    addSecret: (value) => log.redactor.addSecret(value),
    changed: async (sections) => {
      if (sections.includes("models")) models.renew();
      if (!instance) return;
      if (sections.includes("agents"))
        for (const name of Object.keys(config.agents)) instance.agents.ensure(asId<AgentId>(name));
      if (sections.includes("channels")) await instance.channels.apply();
      if (sections.includes("memory")) await instance.memory.changed();
      if (sections.includes("watch")) await instance.watchers.start();
      if (sections.includes("schedules") || sections.includes("agents")) await instance.declare();
    },
  });
  const config = settings.view;
  const crash = faultsAt(env);
  const lock = await lockHome(home);
  log.writeTo(openLogFile(home));
  const crashed = (error: Error) => log.ending("Lares crashed", error);
  process.on("uncaughtExceptionMonitor", crashed);
  const watchdog = new Watchdog({ home, clock, crash, log: log.child("watchdog") });
  const token = ensureToken(home, env.token);
  log.redactor.addSecret(token);

  const ids = randomIds(() => clock.now());
  const modelEnv = modelVariables(env);
  const makeModels = (given: ModelsConfig, variables: ModelEnv) =>
    createModels(given, {
      env: variables,
      clock,
      log: log.child("models"),
      loadAttachment: async (id) => instance?.attachments.load(id),
    });
  const models = changingModels(() => makeModels(config.models, modelEnv));
  let instance: Instance | undefined;
  let trouble: string | undefined;
  let finish!: (code: number) => void;
  const done = new Promise<number>((resolve) => {
    finish = resolve;
  });
  let stopping = false;

  const doors = ownDoors(config.gateway);
  const build = async (): Promise<Instance> =>
    openInstance({
      home,
      version,
      program,
      config,
      models,
      vault,
      clock,
      ids,
      crash,
      guard: watchdog,
      storing: watchdog.storing,
      bus,
      log,
      redact: (text) => log.redactor.redactKnown(text),
      doors,
      onFatal: (error) => void fell(error),
    });

  let waiting = false;
  /** The records failed. A full disk is waited out with a new instance; anything else ends the program. */
  const fell = async (error: AppError): Promise<void> => {
    // While room is waited for there is one loop, and a instance it built too early fails in its hands.
    if (stopping || waiting) return;
    trouble = error.message;
    log.error(error.message, { code: error.code, ...truthy({ hint: error.hint }) });
    const broken = instance;
    instance = undefined;
    watchdog.abandon();
    void broken?.stop(0).catch(() => {});
    if (error.code !== "STORAGE_FULL") return finish(1);
    waiting = true;
    while (!stopping) {
      await new Promise((resolve) => setTimeout(resolve, FULL_RETRY_MS));
      const next = stopping || !hasRoom(home) ? undefined : await buildOnProbation().catch(() => undefined);
      if (!next) continue;
      if (stopping) return next.stop(0);
      instance = next;
      trouble = undefined;
      waiting = false;
      log.warn("there is room again: Lares goes on");
      return;
    }
  };

  /** A instance whose records took a write as large as a turn's. */
  const buildOnProbation = async (): Promise<Instance> => {
    const next = await build();
    try {
      await proveRoom(next.records, ROOM_BYTES);
      return next;
    } catch (error) {
      await next.stop(0).catch(() => {});
      throw error;
    }
  };

  // A write that fails takes the instance down by itself, with everything that was under way in it; whoever did not wait for that
  // write must not take the whole process along. Any other rejection nobody handles is a bug and ends it.
  const orphaned = (reason: unknown): void => {
    if (!isOver(reason)) throw reason;
    log.debug("left for the next start", { error: String(reason) });
  };
  process.on("unhandledRejection", orphaned);

  let server: Server;
  try {
    instance = await build();
    // The first prompt says where commands run. Trying the sandbox is mostly waiting, and goes on while the door is opened.
    void instance.sandbox.state();
    // Not by the clock, which may be set back.
    const began = performance.now();
    const current = (): Instance => {
      if (!instance)
        throw new AppError("STORAGE_FULL", {
          message: trouble ?? "Lares is not ready.",
          hint: "Free some space; Lares goes on by itself.",
          retry: "later",
        });
      return instance;
    };
    server = await openServer({
      home,
      version,
      program,
      models,
      clock,
      ids,
      instance: current,
      uptimeMs: () => Math.round(performance.now() - began),
      settings,
      vault,
      setup: { env: modelEnv, tryModels: makeModels },
      token: { text: token, fromEnvironment: env.token !== undefined },
      bus,
      crash,
      guard: watchdog,
      log,
      trouble: () => trouble,
      problems: () => [...(trouble ? [trouble] : []), ...settings.sentences(), ...(instance?.problems() ?? [])],
      ...defined({ uiDir: options.uiDir }),
    });
  } catch (error) {
    stopping = true;
    await instance?.stop(0).catch(() => {});
    process.off("unhandledRejection", orphaned);
    process.off("uncaughtExceptionMonitor", crashed);
    watchdog.close();
    log.ending("Lares did not start", error instanceof Error ? error.message : error);
    lock.release();
    throw error;
  }
  const { gateway } = server;
  doors.opened(gateway.port);
  settings.start();
  const noteFile = join(home, "gateway.json");
  writeFileSync(
    noteFile,
    `${JSON.stringify({ pid: process.pid, url: gateway.url, port: gateway.port, startedAt: clock.now() })}\n`,
    { mode: 0o600 },
  );
  watchdog.ready();
  const forgetEvents = keepEventLog(bus, log);
  log.info("Lares started", { version, url: gateway.url, model: models.primary().id });
  // After ready, so that the first turn is warm and the start is not slowed.
  setImmediate(() => {
    void models.warm();
    instance?.skills.list(config.routing.defaultAgent).catch(() => {});
    void sweepCalls(instance, config.retention, log);
  });
  const tidying = setInterval(() => void tidy(instance, config.retention, log), TIDY_MS);
  tidying.unref();

  return {
    url: gateway.url,
    port: gateway.port,
    loginUrl: server.loginUrl,
    reload: () => settings.look(),
    home,
    tokenFile: join(home, "token"),
    model: models.primary(),
    done,
    async stop() {
      if (stopping) return;
      stopping = true;
      log.info("Lares stops");
      watchdog.stopping();
      forgetEvents();
      clearInterval(tidying);
      settings.stop();
      await server.close();
      await instance?.stop(DRAIN_MS);
      rmSync(noteFile, { force: true });
      watchdog.close();
      await log.flush();
      lock.release();
      process.off("unhandledRejection", orphaned);
      process.off("uncaughtExceptionMonitor", crashed);
    },
  };
}

/** Whether a file of a turn's size fits. Cheaper than a instance, and it leaves nothing behind. */
function hasRoom(home: string): boolean {
  const file = join(home, "room.probe");
  try {
    writeFileSync(file, randomBytes(ROOM_BYTES), { mode: 0o600 });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(file, { force: true });
  }
}

async function sweepCalls(
  instance: Instance | undefined,
  { callHours }: { callHours: number },
  log: Log,
): Promise<void> {
  try {
    if (callHours > 0) while (await instance?.sessions.sweep(callHours * 3_600_000));
  } catch (error) {
    if (!isOver(error)) log.warn("conversations of single calls could not be deleted", { error: String(error) });
  }
}

async function tidy(
  instance: Instance | undefined,
  keep: { sessionDays: number; journalDays: number; callHours: number },
  log: Log,
): Promise<void> {
  await sweepCalls(instance, keep, log);
  try {
    await instance?.engine.prune(systemClock.now() - keep.journalDays * 86_400_000);
    await instance?.checkpoints.prune();
    await instance?.attachments.tidy();
    await instance?.events.tidy();
    await instance?.schedules.sweep();
    if (keep.sessionDays > 0) await instance?.sessions.prune(keep.sessionDays * 86_400_000, false);
  } catch (error) {
    if (!isOver(error)) log.warn("tidying failed", { error: String(error) });
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
