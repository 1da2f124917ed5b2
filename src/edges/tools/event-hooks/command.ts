/**
 * A command as a hook: JSON on its input, an exit code, JSON on its output. It runs like every other command: in the sandbox, under the
 * supervisor, with an environment built from nothing.
 *
 * HOOKRUN-1: the sandbox lets it write to its own folder and to the workspace of the agent the event is about (formatters are
 *     hooks, too); the network is closed unless the owner opened it for this command.
 * HOOKRUN-2: a script that agents could change doesn't run: a gate that the agent writes itself is none.
 */
import { mkdirSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import type { HookEventName, HookPayload } from "../../../core/contracts/index.ts";
import { type IdMaker, truthy } from "../../../core/kit/index.ts";
import { cleanEnvironment, systemShell } from "../exec/environment.ts";
import { runCommand } from "../exec/run.ts";
import type { CommandRuns } from "../exec/runs.ts";
import { keepLimits } from "../process/index.ts";
import type { Confinement } from "../sandbox/index.ts";
import { claudeAnswer, claudeInput } from "./claude.ts";
import type { CommandHook } from "./config.ts";

export interface HookRunParts {
  home: string;
  userHome: string;
  ids: IdMaker;
  sandbox: Pick<Confinement, "service">;
  runs: CommandRuns;
  /** An agent's workspace. */
  workspace: (agent: string) => string | undefined;
  /** Everywhere agents may write. */
  writable: () => readonly string[];
}

/** An answer is small; more is a program that got stuck. */
const MOST_OUTPUT = 30_000;
/** Ours ends it before; this is for a supervisor that missed the signal. */
const LATEST_MS = 65_000;

export async function runHook(
  parts: HookRunParts,
  hook: { name: string; event: HookEventName; run: CommandHook },
  payload: HookPayload,
  signal: AbortSignal,
): Promise<unknown> {
  const { agent } = payload as { agent?: string };
  const own = join(parts.home, "event-hooks");
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const cwd = (agent === undefined ? undefined : parts.workspace(agent)) ?? own;
  const scripts = namedFiles(hook.run.command, { cwd, userHome: parts.userHome });
  refuseOwnScripts(scripts, parts.writable());
  const key = parts.ids.next("hook");
  const input = join(own, `${key}.json`);
  writeFileSync(input, JSON.stringify(claudeInput(hook.name, payload, cwd)), { mode: 0o600 });
  const room = await parts.sandbox.service({
    writable: [...new Set([own, cwd])],
    readable: [...new Set(scripts.map((file) => dirname(file)))],
    network: hook.run.network,
  });
  const env = { ...cleanEnvironment(own), CLAUDE_PROJECT_DIR: cwd, LARES_HOOK_INPUT: input };
  const shell = systemShell();
  const argv: [string, ...string[]] = [shell, "-c", `exec < "$LARES_HOOK_INPUT"\n${hook.run.command}`];
  const wrapped = await room.wrap({ argv, cwd, env, key });
  const { limits } = room.rules;
  const dir = parts.runs.make(key);
  if (limits) keepLimits(dir, limits);
  try {
    const ended = await runCommand(
      {
        dir,
        key,
        cwd,
        argv: wrapped.argv,
        env: wrapped.env,
        timeoutMs: LATEST_MS,
        apart: true,
        place: { workspace: own, spillDir: own },
        ...truthy({ argv0: wrapped.argv0, end: wrapped.end, limits }),
      },
      signal,
    );
    signal.throwIfAborted();
    if (ended.how === "limit") throw new Error(`it was ended: ${ended.why}`);
    if (ended.output.cut || ended.output.text.length > MOST_OUTPUT) {
      throw new Error(`it printed more than ${MOST_OUTPUT} characters`);
    }
    return readEnd(hook.event, { code: ended.code, out: ended.output.text, errors: ended.errors ?? "" });
  } finally {
    parts.runs.settled(key);
    await rm(input, { force: true }).catch(() => {});
    await rm(join(own, `${key}.txt`), { force: true }).catch(() => {});
  }
}

function readEnd(event: HookEventName, end: Parameters<typeof claudeAnswer>[1]): unknown {
  try {
    return claudeAnswer(event, end);
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error("it printed something that begins like JSON and isn't");
    throw error;
  }
}

/** Files a command's text names, by their real paths. Words that are computed while it runs can't be seen. */
function namedFiles(command: string, { cwd, userHome }: { cwd: string; userHome: string }): string[] {
  const words = command.match(/[^\s`;|&()<>=]+/g) ?? [];
  return words.flatMap((word) => {
    const bare = word.replaceAll('"', "").replaceAll("'", "");
    const plain = bare.replace(/^\$(?:CLAUDE_PROJECT_DIR|\{CLAUDE_PROJECT_DIR\})/, cwd).replace(/^~\//, `${userHome}/`);
    const path = isAbsolute(plain) ? plain : join(cwd, plain);
    try {
      return statSync(path).isFile() ? [realpathSync(path)] : [];
    } catch {
      return [];
    }
  });
}

function refuseOwnScripts(scripts: readonly string[], writable: readonly string[]): void {
  const why = whyRefused(scripts, writable);
  if (why !== undefined) throw new Error(why);
}

function whyRefused(scripts: readonly string[], writable: readonly string[]): string | undefined {
  const found = scripts.find((file) => writable.some((folder) => file.startsWith(`${folder}/`)));
  return found && `agents can change ${found}, so it can't be a hook; move it out of their folders`;
}

/** Why a command wouldn't be run as a hook because of the scripts it names (HOOKRUN-2). */
export function whyNotScript(
  command: string,
  { cwd, userHome, writable }: { cwd: string; userHome: string; writable: readonly string[] },
): string | undefined {
  return whyRefused(namedFiles(command, { cwd, userHome }), writable);
}
