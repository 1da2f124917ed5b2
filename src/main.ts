/** arguments → config → app.start() → wait for a signal → app.stop(). Each command loads only what it needs. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCli } from "./faces/cli/index.ts";
import { closeInherited, programNames, readEnvironment } from "./ground/config/index.ts";

// Before anything is opened or started.
closeInherited();

const manifest = new URL("../package.json", import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };

try {
  const env = readEnvironment();
  const program = programNames({
    script: join(dirname(fileURLToPath(manifest)), "bin", "lares.js"),
    node: process.execPath,
    cwd: process.cwd(),
    path: env.variables.PATH,
    named: env.command,
  });
  process.exitCode = await runCli(process.argv.slice(2), {
    env,
    version,
    program,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    runGateway: async (options) =>
      (await import("./app/index.ts")).startApp({ env, version, program: program.told, ...options }),
    readToken: async (home) => (await import("./ground/config/index.ts")).readToken(home, env.token),
    readLogs: async (home) => (await import("./ground/observe/index.ts")).readLogs(home),
    examineHome: async (home, config) => (await import("./app/examine.ts")).examineHome(home, config),
    backups: async () => (await import("./app/backups.ts")).makeBackups(env, version),
    configSchema: async () => (await import("./app/config.ts")).schema,
  });
} catch (error) {
  // Only the environment itself can fail before the command line has its own words for it.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
// Sockets or timers of a command that is done must not keep the terminal waiting.
process.exit();
