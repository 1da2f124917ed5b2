/**
 * `exec`: a shell command in the foreground. `repeat` is `never`: nobody knows what a second run would do.
 * The working directory is held open from the check to the start, so a swapped link cannot move the command elsewhere.
 */
import { z } from "zod";
import type { Tool, ToolPlace } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { visibleLine } from "../escape.ts";
import { parseInput, wholeNumber } from "../input.ts";
import { openInside, wrongInput } from "../paths/index.ts";
import { elide, notes } from "./display.ts";
import type { Locale } from "./environment.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { endRun } from "./processes.ts";
import { type Ended, runCommand } from "./run.ts";
import { quote } from "./shell/index.ts";

const DEFAULT_S = 120;
const MOST_S = 600;
/** A person must be able to read all of it before saying yes; longer things belong in a file. */
const MOST_CHARACTERS = 16_000;

const schema = z.strictObject({
  command: z.string().min(1),
  cwd: z.string().min(1).optional(),
  timeout_s: wholeNumber(1, MOST_S).optional(),
});

export interface ExecOptions extends Locale {
  /** Trusted directories, joined by colons, instead of the system's. Only root, or the owner of Lares, may write to them. */
  path?: string;
}

export function createExec(options: ExecOptions = {}): Tool {
  const { path: trusted, ...locale } = options;
  const where = ({ path, home }: Held) => ({ cwd: path, home, locale, ...(trusted ? { path: trusted } : {}) });
  return {
    spec: {
      name: "exec",
      description: "Run a bash command in the workspace; ends with its processes",
      input: {
        type: "object",
        properties: {
          command: { type: "string" },
          cwd: { type: "string" },
          timeout_s: { type: "integer", description: `default ${DEFAULT_S}, max ${MOST_S}` },
        },
        required: ["command"],
      },
    },
    repeat: "never",
    async plan(input, place) {
      const { command, cwd = ".", timeout_s = DEFAULT_S } = checked(input);
      try {
        return await inDirectory(place, cwd, async (held) => {
          const prepared = await prepare(command, where(held));
          const { argv, argv0, env, shell, files } = prepared;
          return {
            tool: "exec",
            risk: "exec" as const,
            targets: targetsOf(prepared, held),
            shown: `${show(prepared)}\n[in ${visibleLine(held.path)}, up to ${timeout_s} s]`,
            binding: {
              argv: [...argv],
              argv0: argv0 ?? null,
              timeout_s,
              cwd: held.path,
              cwd_id: held.identity,
              env,
              files,
              settings: shell.settings ?? [],
            },
            shell,
          };
        });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== "PATH_OUTSIDE") throw error;
        return {
          tool: "exec",
          risk: "exec" as const,
          targets: [command],
          shown: `${elide(command, [])}\n[in ${visibleLine(cwd)}, up to ${timeout_s} s]`,
          binding: { command, cwd },
          outside: error.message,
        };
      }
    },
    async run(input, place, key, signal) {
      const { command, cwd = ".", timeout_s = DEFAULT_S } = checked(input);
      signal.throwIfAborted();
      return inDirectory(place, cwd, async (held) => {
        const { path, use } = held;
        const { argv, argv0, env } = await prepare(command, where(held));
        const timeoutMs = timeout_s * 1000;
        const ended = await runCommand(
          { argv, ...(argv0 ? { argv0 } : {}), cwd: use, env, key, timeoutMs, spillDir: place.spillDir },
          signal,
        );
        return {
          text: render(ended),
          ...(ended.how === "exited" && ended.code === 0 ? {} : { isError: true }),
          meta: {
            exit: ended.code,
            signal: ended.signal,
            how: ended.how,
            ms: ended.ms,
            bytes: ended.output.bytes,
            leftovers: ended.leftovers,
            cwd: path,
            ...(ended.output.spill ? { spill: ended.output.spill } : {}),
          },
        };
      });
    },
    /** What a command did before a crash cannot be known; what it still does is ended, so that it is over for sure. */
    async probe(_input, _place, key) {
      await endRun({ key });
      return undefined;
    },
  };
}

function checked(input: Parameters<Tool["plan"]>[0]) {
  const parsed = parseInput("exec", schema, input);
  if (parsed.command.includes("\0")) throw wrongInput('exec: Field "command" contains a NUL character.');
  if (parsed.command.length > MOST_CHARACTERS) {
    throw wrongInput(
      `exec: Field "command" has ${parsed.command.length} characters; ${MOST_CHARACTERS} is the most.`,
      "Write a script with write and run that.",
    );
  }
  return parsed;
}

/** What runs, as a person reads it: the words of a plain command, the text a shell gets. */
function show({ argv, shell }: Prepared): string {
  const text = shell.form === "argv" ? argv.map(quote).join(" ") : argv[argv.length - 1]!;
  const parts = shell.commands.flatMap(({ words, redirects }) => [
    words[0]!.literal ?? words[0]!.guess,
    ...redirects.map(({ operator, target }) => `${operator} ${target.guess}`),
  ]);
  return [elide(text, parts), ...notes(shell)].join("\n");
}

/** What "allow always" keeps: exactly this, here, with these contents. */
function targetsOf({ argv, files }: Prepared, { path, home }: Held): string[] {
  const here = path === home ? [] : [`in ${path}`];
  return [...argv, ...here, ...files.map((file) => `${file.path} sha256 ${file.sha256}`)];
}

interface Held {
  /** Real path, for people. */
  path: string;
  /** Device and inode: what the approval is bound to. */
  identity: string;
  /** What the child changes into: the open directory itself. */
  use: string;
  /** Real path of the workspace. */
  home: string;
}

async function inDirectory<T>(place: ToolPlace, cwd: string, act: (held: Held) => Promise<T>): Promise<T> {
  const inside = await openInside(place.workspace, cwd);
  try {
    const dir = inside.directory();
    const [identity, use] = await Promise.all([dir.identity(), dir.self()]);
    return await act({ path: inside.absolute, identity, use, home: inside.root });
  } finally {
    await inside.close();
  }
}

function render({ output, code, signal, how, leftovers, ms }: Ended): string {
  const took = `${(ms / 1000).toFixed(1)} s`;
  const end =
    how === "timeout"
      ? `timed out and was ended with all its processes, ${took}`
      : how === "aborted"
        ? `stopped by request with all its processes, ${took}`
        : signal
          ? `killed by ${signal}, ${took}`
          : `exit ${code}, ${took}`;
  const left = leftovers > 0 ? `; ${leftovers} background processes were ended` : "";
  const gap = output.text === "" || output.text.endsWith("\n") ? "" : "\n";
  return `${output.text}${gap}[${end}${left}]`;
}
