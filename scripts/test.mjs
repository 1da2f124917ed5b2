/** `npm test`: makes the clone ready, then runs vitest with whatever arguments were given. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { ensure, orSayWhy, root } from "./ensure.mjs";

await orSayWhy(() => ensure({ build: true }));

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const child = spawn(process.execPath, [vitest, "run", ...process.argv.slice(2)], { cwd: root, stdio: "inherit" });
// A terminal sends Ctrl-C to both of us; a supervisor only to this process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on("error", (error) => {
  process.stderr.write(`vitest could not be started: ${error.message}\n`);
  process.exitCode = 1;
});
child.on("exit", (code, signal) => {
  // A shell's convention for "ended by signal n".
  process.exitCode = signal ? 128 + (constants.signals[signal] ?? 0) : (code ?? 1);
});
