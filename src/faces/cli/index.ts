/** The command line. What is asked most and needs nothing, `--help` and `--version`, is answered before anything is loaded. */

import type { CliPorts } from "./ports.ts";
import { helpPage } from "./words/help.ts";

export type { CliPorts, HomeExamined, OnSignal, RunningGateway } from "./ports.ts";

/**
 * Runs one command; `argv` without node and script. Resolves with the exit code and never rejects. The caller ends the
 * process with it: after a second Ctrl-C something may still be running.
 */
export async function runCli(argv: string[], ports: CliPorts): Promise<number> {
  // A reader that went away (`lares … | head`) is no failure.
  ports.stdout.on("error", () => {});
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
