/** arguments → config → app.start() → wait for a signal → app.stop(). Each command loads only what it needs. */
import { readFileSync } from "node:fs";
import { runCli } from "./faces/cli/index.ts";
import { closeInherited, readEnvironment } from "./ground/config/index.ts";

// Before anything is opened or started.
closeInherited();

const manifest = new URL("../package.json", import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };

try {
  const env = readEnvironment();
  process.exitCode = await runCli(process.argv.slice(2), {
    env,
    version,
    // Started with `npm start` from a clone, there is no `lares` on the PATH.
    ...(process.argv[1]?.endsWith("start.mjs") ? { program: "node bin/lares.js" } : {}),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    runGateway: async (options) => (await import("./app/index.ts")).startApp({ env, version, ...options }),
    readToken: async (home) => (await import("./app/token.ts")).readToken(home, env.token),
    configSchema: async () => (await import("./app/config.ts")).schema,
  });
} catch (error) {
  // Only the environment itself can fail before the command line has its own words for it.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
// Sockets or timers of a command that is done must not keep the terminal waiting.
process.exit();
