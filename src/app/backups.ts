/** Backups for the command line. */
import { AppError } from "../core/domain/index.ts";
import { faultsAt, systemClock } from "../core/kit/index.ts";
import type { BackupPort } from "../faces/cli/index.ts";
import { Backups } from "../ground/backup/index.ts";
import { type Environment, ensureHome, loadConfig, readEnvironment } from "../ground/config/index.ts";
import { makeResolver, openVault } from "../ground/vault/index.ts";
import { startApp } from "./app.ts";
import { type LaresConfig, schema } from "./config.ts";
import { settleRestored } from "./settle-restored.ts";

export function makeBackups(env: Environment, version: string): BackupPort {
  return new Backups({
    version,
    now: () => systemClock.now(),
    crash: faultsAt(env),
    settings: (home, isLost) => readSettings(home, env, isLost),
    settle: settleRestored,
    ensureHome,
    async tryStart(home) {
      const quiet = readEnvironment({ HOME: home, PATH: env.variables.PATH });
      const app = await startApp({ env: quiet, home, port: 0, version });
      await app.stop();
    },
  });
}

async function readSettings(home: string, env: Environment, isLost: boolean): Promise<LaresConfig["backup"]> {
  try {
    const vault = await openVault({ home, now: () => systemClock.now(), onSecret: () => {} });
    const { config } = await loadConfig({ home, env: env.variables, schema, lookUp: makeResolver(vault) });
    return config.backup;
  } catch (error) {
    if (!isLost || !(error instanceof AppError)) throw error;
    return schema.slices.backup.parse({});
  }
}
