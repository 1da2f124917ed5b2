/**
 * The running program: home, lock, config, instance, gateway. Starts in an order that makes the first error the clearest one, and
 * stops so that nothing is lost.
 */
import { join } from "node:path";
import { AppError, isOver } from "../core/domain/index.ts";
import { type Clock, defined, faultsAt, Late } from "../core/kit/index.ts";
import { changingModels, createModels, type ModelEnv, type ModelsConfig } from "../edges/models/index.ts";
import { EventStream } from "../faces/gateway/index.ts";
import { ownDoors } from "../flow/gate/index.ts";
import { BackupTimer, createInProcess, finishCutOffRestore } from "../ground/backup/index.ts";
import { type Environment, ensureHome, fileProblem, modelVariables, noteAddress } from "../ground/config/index.ts";
import { collectWhenQuiet, keepEventLog, keepHeapTight, type Logbook } from "../ground/observe/index.ts";
import { type Base, openBase } from "./base.ts";
import { openInstance } from "./instance.ts";
import { Lives } from "./lives.ts";
import { openServer, type Server } from "./server.ts";

export interface StartOptions {
  env: Environment;
  home: string;
  port?: number;
  bind?: string;
  /** Confirms that listening beyond loopback is intended. */
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
/** How often old journals and idle sessions are looked for. */
const TIDY_MS = 3_600_000;

/** Rejects with a sentence that names the file and the way out, whatever the home is like. */
export async function startApp(options: StartOptions): Promise<RunningApp> {
  ensureHome(options.home);
  try {
    await finishCutOffRestore(options.home, faultsAt(options.env));
    return await start(options);
  } catch (error) {
    throw error instanceof AppError ? error : (fileProblem(error, options.home) ?? error);
  }
}

async function start(options: StartOptions): Promise<RunningApp> {
  keepHeapTight();
  const base = await openBase(options);
  const { home, log, lock, watchdog } = base;
  const stopWatching = watchProcess(log);
  const backups = new BackupTimer({
    home,
    settings: () => base.config.backup,
    run: () => createInProcess(home),
    clock: base.clock,
    log: log.child("backup"),
  });
  // Before anything runs: a turn that goes on after a restart speaks before the door is open (LIVE-4).
  const events = new EventStream(base.bus, base.clock);
  const running = { ...buildProgram(base, options), backups, events };
  const { lives, models } = running;
  let server: Server;
  try {
    const instance = await lives.start();
    // The first prompt says where commands run. Trying the sandbox is mostly waiting, and goes on while the door is opened.
    void instance.sandbox.state();
    server = await serve(base, options, running);
  } catch (error) {
    await lives.stop(0).catch(() => {});
    stopWatching();
    watchdog.close();
    log.ending("Lares did not start", error instanceof Error ? error.message : error);
    lock.release();
    throw error;
  }
  const goOff = goOn(base, running, server);
  let isStopping = false;
  return {
    home,
    url: server.gateway.url,
    port: server.gateway.port,
    model: models.primary(),
    loginUrl: server.loginUrl,
    reload: () => base.settings.look(),
    tokenFile: join(home, "token"),
    done: lives.done,
    async stop() {
      if (isStopping) return;
      isStopping = true;
      log.info("Lares stops");
      lives.stopping();
      watchdog.stopping();
      const forgetAddress = goOff();
      await server.close();
      await lives.stop(DRAIN_MS);
      forgetAddress();
      watchdog.close();
      await log.flush();
      lock.release();
      stopWatching();
    },
  };
}

interface Program {
  backups: BackupTimer;
  events: EventStream;
  lives: Lives;
  models: ReturnType<typeof changingModels>;
  tryModels: (config: ModelsConfig, env: ModelEnv) => ReturnType<typeof createModels>;
  modelEnv: ModelEnv;
  doors: ReturnType<typeof ownDoors>;
}

/** The models, and the instances that use them. Nothing runs yet. */
function buildProgram(
  base: Base,
  { env, version, program = "lares" }: StartOptions,
): Omit<Program, "backups" | "events"> {
  const { home, config, vault, clock, ids, crash, bus, log, watchdog } = base;
  const doors = ownDoors(config.gateway);
  const late = new Late<Lives>();
  const modelEnv = modelVariables(env);
  const tryModels = (given: ModelsConfig, variables: ModelEnv) =>
    createModels(given, {
      env: variables,
      clock,
      log: log.child("models"),
      loadAttachment: async (id) => late.get().current?.attachments.load(id),
      pluginSocket: (...asked) =>
        late
          .get()
          .now()
          .plugins.calls.modelSocket(...asked),
    });
  const models = changingModels(() => tryModels(config.models, modelEnv));
  const lives = late.set(
    new Lives({
      home,
      log,
      abandon: () => watchdog.abandon(),
      open: (onFatal) =>
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
          bus,
          log,
          doors,
          onFatal,
          guard: watchdog,
          storing: watchdog.storing,
          redact: (text) => log.redactor.redactKnown(text),
        }),
    }),
  );
  base.changed.set(async (sections) => {
    if (sections.includes("models")) models.renew();
    await lives.current?.changed(sections);
  });
  return { lives, models, tryModels, modelEnv, doors };
}

function serve(
  base: Base,
  options: StartOptions,
  { lives, models, tryModels, modelEnv, backups, events }: Program,
): Promise<Server> {
  const { home, settings, vault, clock, ids, bus, crash, log, watchdog } = base;
  const { env, version, program = "lares", uiDir } = options;
  // Not by the clock, which may be set back.
  const began = performance.now();
  return openServer({
    home,
    version,
    program,
    models,
    clock,
    ids,
    settings,
    vault,
    bus,
    events,
    crash,
    log,
    guard: watchdog,
    instance: lives.now,
    uptimeMs: () => Math.round(performance.now() - began),
    setup: { env: modelEnv, tryModels },
    token: { text: base.token, fromEnvironment: env.token !== undefined },
    trouble: lives.trouble.get,
    problems: () => [
      ...[lives.trouble.get()?.message ?? []].flat(),
      ...[backups.problem ?? []].flat(),
      ...settings.sentences(),
      ...(lives.current?.problems() ?? []),
    ],
    ...defined({ uiDir }),
  });
}

/** The gateway serves: says so, and starts what goes on beside it. Returns how to end that; the address goes last. */
function goOn(base: Base, { lives, models, doors, backups }: Program, { gateway }: Server): () => () => void {
  const { home, clock, bus, log, settings, watchdog, version } = base;
  doors.opened(gateway.port);
  settings.start();
  const forgetAddress = noteAddress(home, { url: gateway.url, port: gateway.port, startedAt: clock.now() });
  watchdog.ready();
  const forgetEvents = keepEventLog(bus, log);
  log.info("Lares started", { version, url: gateway.url, model: models.primary().id });
  // After ready, so that the first turn is warm and the start is not slowed.
  setImmediate(() => {
    void models.warm();
    lives.current?.warm();
  });
  const tidying = setInterval(() => void lives.current?.tidy(), TIDY_MS);
  tidying.unref();
  backups.start();
  collectWhenQuiet(clock);
  return () => {
    forgetEvents();
    clearInterval(tidying);
    backups.stop();
    settings.stop();
    return forgetAddress;
  };
}

/** What the process itself hears: a crash is logged, and work that an ending instance left behind is no crash. */
function watchProcess(log: Logbook): () => void {
  const crashed = (error: Error) => log.ending("Lares crashed", error);
  // A write that fails takes the instance down by itself, with everything that was under way in it; what did not wait for that
  // write must not take the whole process along. Any other rejection nobody handles is a bug and ends it.
  const orphaned = (reason: unknown): void => {
    if (!isOver(reason)) throw reason;
    log.debug("left for the next start", { error: String(reason) });
  };
  process.on("uncaughtExceptionMonitor", crashed);
  process.on("unhandledRejection", orphaned);
  return () => {
    process.off("unhandledRejection", orphaned);
    process.off("uncaughtExceptionMonitor", crashed);
  };
}
