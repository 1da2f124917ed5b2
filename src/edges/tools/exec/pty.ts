/**
 * Starting a command on a separate terminal: for programs that behave differently without one. The package that makes
 * terminals is optional and loaded when it is first wanted; without it `script` of the system does it.
 */
import { closeSync, existsSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { AppError } from "../../../core/domain/index.ts";
import { MOST_OUTPUT, onTerminal } from "../process/supervisor.ts";
import { type Command, exitIn, type RunExit, type StartedRun, type Take } from "./run.ts";
import { quote } from "./shell/index.ts";
import { TerminalText } from "./terminal-text.ts";

/** Wide enough that tables are not folded. */
const SIZE = { cols: 120, rows: 40 };
const TERM = "xterm";
const SCRIPT = "/usr/bin/script";
/** In the folder of a command whose terminal ends with Lares. */
const HANGS_UP = "hangs-up";
/** For the supervisor; a command has its own. */
const PATH_OF_SHELL = "/usr/bin:/bin";

/**
 * Undefined when the package is not there: then start `onScript`'s command instead. The terminal belongs to Lares and hangs up with
 * it, which ends most programs; the supervisor is on it too and writes how.
 */
export async function startOnTerminal(command: Command): Promise<StartedRun | undefined> {
  const pty = await import("@lydell/node-pty").catch(() => undefined);
  if (!pty) return undefined;
  const { dir, key, argv, env, cwd } = command;
  const [program, ...args] = onTerminal({ dir, id: key, argv, env, cwd });
  writeFileSync(join(dir, HANGS_UP), "", { mode: 0o600 });
  const terminal = pty.spawn(program, args, { name: TERM, ...SIZE, cwd, env: { PATH: PATH_OF_SHELL, ...env, TERM } });
  const text = new TerminalText();
  const file = openSync(join(dir, "out"), "wx", 0o600);
  let room = MOST_OUTPUT;
  const keep = (part: string) => {
    const bytes = Buffer.from(part).subarray(0, room);
    room -= bytes.length;
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  };
  terminal.onData((data) => keep(text.add(data)));
  const exited = new Promise<RunExit>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      keep(text.end());
      closeSync(file);
      resolve(exitIn(dir) ?? { code: signal ? 128 + signal : exitCode, signal: null });
    });
  });
  // The terminal says that a program ended only after the last of its output.
  return { pid: terminal.pid, exited, drained: exited.then(() => {}), close: () => {} };
}

/** Whether the command's terminal ended with the Lares that started it. Under `script` it goes on. */
export function hungUp(dir: string): boolean {
  return existsSync(join(dir, HANGS_UP));
}

/** The same command with `script` around it, and what makes plain text of its output. */
export function onScript(command: Command): { command: Command; plain: NonNullable<StartedRun["plain"]> } {
  if (!existsSync(SCRIPT)) {
    throw new AppError("TOOL_INPUT", {
      message: "exec: This machine can't provide a terminal.",
      hint: "Run it without pty, or install @lydell/node-pty.",
    });
  }
  const words = command.argv.map(quote).join(" ");
  const argv: Command["argv"] =
    process.platform === "darwin"
      ? [SCRIPT, "-q", "/dev/null", ...command.argv]
      : [SCRIPT, "-qfec", words, "/dev/null"];
  const { argv0: _, ...rest } = command;
  return { command: { ...rest, argv, env: { ...command.env, TERM } }, plain: plainText };
}

/** Text for people of what a terminal was sent. What is plain already stays as it is. */
export function plainText(take: Take): Take & { end(): void } {
  const text = new TerminalText();
  const decoder = new StringDecoder("utf8");
  return Object.assign((chunk: Buffer) => take(Buffer.from(text.add(decoder.write(chunk)))), {
    end: () => take(Buffer.from(text.add(decoder.end()) + text.end())),
  });
}
