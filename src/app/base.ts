/** What is there before any instance, and outlives each of them: the home's lock, log, vault, settings, token and watchdog. */
import {
  type Bus,
  type Clock,
  type Crash,
  defined,
  faultsAt,
  type IdMaker,
  Late,
  makeBus,
  randomIds,
  systemClock,
} from "../core/kit/index.ts";
import { ensureToken, loadConfig, type Section, Settings } from "../ground/config/index.ts";
import { createLog, type Logbook, openLogFile } from "../ground/observe/index.ts";
import { type HomeLock, lockHome } from "../ground/records/index.ts";
import { makeResolver, openVault, type Vault } from "../ground/vault/index.ts";
import { Watchdog } from "../ground/watchdog/index.ts";
import type { StartOptions } from "./app.ts";
import { type LaresConfig, type LaresSettings, schema } from "./config.ts";

export interface Base {
  home: string;
  version: string;
  config: LaresConfig;
  settings: LaresSettings;
  /** Who follows a change of lares.yaml. */
  changed: Late<(sections: readonly Section<typeof schema>[]) => Promise<void>>;
  vault: Vault;
  /** The owner's token. */
  token: string;
  lock: HomeLock;
  watchdog: Watchdog;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  bus: Bus;
  log: Logbook;
}

export async function openBase(options: StartOptions): Promise<Base> {
  const { env, home, version } = options;
  const clock = options.clock ?? systemClock;
  const log = options.log ?? createLog({ level: "warn", keep: "info" });
  const addSecret = (value: string) => log.redactor.addSecret(value);
  env.secrets.forEach(addSecret);
  const overrides = defined({
    "gateway.port": options.port,
    "gateway.bind": options.bind,
    "gateway.exposed": options.exposed,
  });
  const vault = await openVault({ home, now: () => clock.now(), onSecret: addSecret });
  const lookUp = makeResolver(vault);
  const loaded = await loadConfig({ home, env: env.variables, schema, overrides, lookUp });
  loaded.secrets.forEach(addSecret);
  const bus = makeBus();
  const changed: Base["changed"] = new Late();
  const settings = new Settings({
    home,
    variables: env.variables,
    overrides,
    loaded,
    schema,
    bus,
    lookUp,
    addSecret,
    log: log.child("config"),
    changed: (sections) => changed.get()(sections),
  });
  const crash = faultsAt(env);
  const lock = await lockHome(home);
  log.writeTo(openLogFile(home));
  const watchdog = new Watchdog({ home, clock, crash, log: log.child("watchdog") });
  const token = ensureToken(home, env.token);
  addSecret(token);
  const ids = randomIds(clock);
  const config = settings.view;
  return { home, version, config, settings, changed, vault, token, lock, watchdog, clock, ids, crash, bus, log };
}
