/** The command line. What is asked most and needs nothing, `--help` and `--version`, is answered before anything is loaded. */

import type { CliPorts } from "./ports.ts";
import { helpPage } from "./words/help.ts";

export type { BackupPort, CliPorts, HomeExamined, OnSignal, RunningGateway } from "./ports.ts";

/**
 * Runs one command; `argv` without node and script. Resolves with the exit code and never rejects. The caller ends the
 * process with it: after a second Ctrl-C something may still be running.
 */
export async function runCli(argv: string[], ports: CliPorts): Promise<number> {
  let broken: NodeJS.ErrnoException | undefined;
  ports.stdout.on("error", (error) => (broken ??= error));
  ports.stderr.on("error", () => {});
  const code = await run(argv, ports);
  // A stream reports a failed write a moment after it.
  await new Promise((resolve) => setImmediate(resolve));
  // A reader that went away (`lares … | head`) is no failure.
  if (!broken || broken.code === "EPIPE") return code;
  const { reportBroken } = await import("./program.ts");
  return code || reportBroken(argv, ports, broken);
}

async function run(argv: string[], ports: CliPorts): Promise<number> {
  if (argv.length === 1 && /^(--version|-V)$/.test(argv[0]!)) {
    ports.stdout.write(`${ports.version}\n`);
    return 0;
  }
  if (argv.length === 1 && /^(--help|-h|help)$/.test(argv[0]!)) {
    ports.stdout.write(helpPage(ports.program?.here ?? "lares"));
    return 0;
  }
  const { runProgram } = await import("./program.ts");
  return runProgram(argv, ports);
}
