/**
 * Starting a command on a terminal of its own: for programs that behave differently without one. The package that makes
 * terminals is optional and loaded when it is first wanted; without it `script` of the system does it.
 */
import { existsSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { AppError } from "../../../core/domain/index.ts";
import { RUN_TAG } from "./environment.ts";
import type { Command, Started } from "./run.ts";
import { quote } from "./shell/index.ts";
import { TerminalText } from "./terminal-text.ts";

/** Wide enough that tables are not folded. */
const SIZE = { cols: 120, rows: 40 };
const TERM = "xterm";
const SCRIPT = "/usr/bin/script";

/** Undefined when the package is not there: then start `onScript`'s command instead. */
export async function startOnTerminal(command: Command, take: (chunk: Buffer) => void): Promise<Started | undefined> {
  const pty = await import("@lydell/node-pty").catch(() => undefined);
  if (!pty) return undefined;
  const [program, ...args] = command.argv;
  const env = { ...command.env, TERM, [RUN_TAG]: command.key };
  const terminal = pty.spawn(program, args, { name: TERM, ...SIZE, cwd: command.cwd, env });
  const text = new TerminalText();
  terminal.onData((data) => take(Buffer.from(text.add(data))));
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      take(Buffer.from(text.end()));
      resolve({ code: signal ? 128 + signal : exitCode, signal: null });
    });
  });
  // The terminal says that a program ended only after the last of its output.
  return { pid: terminal.pid, exited, drained: exited.then(() => {}), close: () => {} };
}

/** The same command with `script` around it, and what makes plain text of its output. */
export function onScript(command: Command): { command: Command; plain: (take: Take) => Take & { end(): void } } {
  if (!existsSync(SCRIPT)) {
    throw new AppError("TOOL_INPUT", {
      message: "exec: There is no way to make a terminal on this machine.",
      hint: "Run it without pty, or install @lydell/node-pty.",
    });
  }
  const words = command.argv.map(quote).join(" ");
  const argv: Command["argv"] =
    process.platform === "darwin"
      ? [SCRIPT, "-q", "/dev/null", ...command.argv]
      : [SCRIPT, "-qfec", words, "/dev/null"];
  const { argv0: _, ...rest } = command;
  const plain = (take: Take) => {
    const text = new TerminalText();
    const decoder = new StringDecoder("utf8");
    return Object.assign((chunk: Buffer) => take(Buffer.from(text.add(decoder.write(chunk)))), {
      end: () => take(Buffer.from(text.add(decoder.end()) + text.end())),
    });
  };
  return { command: { ...rest, argv, env: { ...command.env, TERM } }, plain };
}

type Take = (chunk: Buffer) => void;
