/**
 * From the command's text to what will be started. Planning and running both come here, so that they cannot differ (TOOL-3).
 *
 * EXEC-3: a command that is plain is started by argv, its program pinned by real path, without a shell.
 * EXEC-4: several plain commands reach the shell as a text made from the words that were judged.
 */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ShellPlan } from "../../../core/contracts/index.ts";
import { cleanEnvironment, type Locale, systemShell } from "./environment.ts";
import { gitEnvironment, gitSettings, guardedGit } from "./git.ts";
import { leadingOut, PathWays } from "./links.ts";
import { settledPlan } from "./settled.ts";
import { analyse, BUILTINS, baseName, findProgram, render } from "./shell/index.ts";
import { notFound } from "./words.ts";

export interface Prepared {
  /** The file that is started and its arguments. */
  argv: readonly [string, ...string[]];
  /** argv[0]: some files are many programs and choose by this name. */
  argv0?: string;
  env: Record<string, string>;
  shell: ShellPlan;
  /** The command for people to read: its own words, with programs by the names it calls them. */
  said: string;
  /** Contents an approval is bound to: programs and scripts that do not lie in trusted directories. */
  files: { path: string; sha256: string }[];
  /** Variables for the settled form of the command, where there is one. */
  settled?: Record<string, string>;
}

export interface Where {
  /** Real path of the working directory. */
  cwd: string;
  /** Real path of the workspace. */
  home: string;
  /** Other folders of the agent. */
  roots?: readonly string[];
  locale: Locale;
  /** Trusted directories, instead of the system's. */
  path?: string;
}

export async function prepare(text: string, where: Where): Promise<Prepared> {
  const env = cleanEnvironment(where.home, where.locale);
  if (where.path) env.PATH = where.path;
  // Without it git in a folder that is no repository takes the next one above, which may be the owner's whole home.
  env.GIT_CEILING_DIRECTORIES = [where.home, ...(where.roots ?? [])].map((root) => dirname(root)).join(":");
  const { commands, reasons, sequence } = analyse(text);
  for (const command of commands) {
    const name = command.words[0]!.literal;
    const program = name === undefined || BUILTINS.has(name) ? undefined : findProgram(name, env.PATH!, where.cwd);
    if (program) command.program = program;
  }
  const shell: ShellPlan = { text, form: "shell", commands, reasons, cwd: where.cwd };
  const tops = commands.filter((command) => command.within.length === 0);
  const isPlain =
    sequence !== undefined && tops.length === sequence.commands.length && tops.every((one) => one.program);
  if (sequence && !isPlain && !reasons.some((reason) => reason.kind === "builtin")) {
    const lost = tops.find((one) => !one.program);
    if (lost)
      reasons.push({
        kind: "not-found",
        text: notFound(JSON.stringify(lost.words[0]!.guess)),
      });
  }
  const files = boundFiles(shell);
  if (!isPlain) {
    const settled = await settledPlan(shell, where, env);
    if (!settled) return { argv: [systemShell(), "-c", text], env, shell, said: text, files };
    shell.settled = settled.plan;
    return { argv: [systemShell(), "-c", text], env, shell, said: text, files, settled: settled.env };
  }

  // What find, xargs and timeout run, and git in another folder, can only be allowed in another form.
  const runsOthers = tops.some(
    ({ words: [name, ...args] }) =>
      /^(xargs|timeout)$/.test(name!.guess) ||
      args.some(({ guess }) => guess === "-exec" || (guess === "-C" && name!.guess === "git")),
  );
  const settled = runsOthers ? await settledPlan(shell, where, { ...env }) : undefined;
  if (settled) shell.settled = settled.plan;
  const other = settled ? { settled: settled.env } : {};
  const gits = tops.filter((one) => baseName(one.words[0]!.guess) === "git");
  const said = render(
    sequence,
    sequence.commands.map(([name]) => name!),
  );
  const ways = new PathWays();
  if (gits.length > 0) {
    shell.settings = await gitSettings({ ...where, git: gits[0]!.program!.real, env }, ways);
    const guards = gits.map((git) => gitEnvironment(git.words.slice(1).map((word) => word.guess)));
    // A commit beside a status keeps its hooks: a rule or a person said yes to the commit.
    if (guards.every((guard) => guard !== undefined)) Object.assign(env, guards[0]);
  }
  for (const [i, command] of tops.entries()) {
    const links = await leadingOut(command, where, ways);
    if (links.length > 0) command.links = links;
    const words = sequence.commands[i]!;
    if (baseName(words[0]!) === "git") sequence.commands[i] = [words[0]!, ...guardedGit(words.slice(1))];
  }
  const [only] = sequence.commands;
  if (sequence.commands.length === 1 && sequence.redirects[0]!.length === 0) {
    shell.form = "argv";
    const { real } = tops[0]!.program!;
    return { argv: [real, ...only!.slice(1)], argv0: only![0]!, env, shell, said, files, ...other };
  }
  shell.form = "rendered";
  const paths = tops.map((one) => one.program!.path);
  return { argv: [systemShell(), "-c", render(sequence, paths)], env, shell, said, files, ...other };
}

/** Above this a file is bound by identity, size and time: planning must stay quick. */
const HASHED_UP_TO = 16 * 1024 * 1024;
/** More operands than this are data, not scripts. */
const MOST_FILES = 16;
const RUNS_FILES =
  /^((ba|da|z|k|a|fi|c|tc)?sh|source|\.|python[\d.]*|pypy\d*|perl[\d.]*|ruby[\d.]*|node|nodejs|bun|deno|tsx|ts-node|php[\d.]*|lua[\d.]*|tclsh|expect|Rscript|awk|gawk|mawk|sed|make|gmake|jq|osascript|pwsh)$/;

function boundFiles(shell: ShellPlan): Prepared["files"] {
  const paths = new Set<string>();
  for (const { words, program } of shell.commands) {
    if (program && !program.trusted) paths.add(program.real);
    if (!RUNS_FILES.test(baseName(words[0]!.guess))) continue;
    for (const { literal } of words.slice(1)) {
      if (literal && !literal.startsWith("-") && paths.size < MOST_FILES) paths.add(resolve(shell.cwd, literal));
    }
  }
  return [...paths].flatMap((path) => {
    const sha256 = readContent(path);
    return sha256 === undefined ? [] : [{ path, sha256 }];
  });
}

/** A hash of what is in it; of a large file what is known about it. */
export function readContent(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    if (stats.size > HASHED_UP_TO) return `stat:${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeMs}`;
    const hash = createHash("sha256");
    const chunk = Buffer.alloc(64 * 1024);
    for (let n = readSync(file, chunk); n > 0; n = readSync(file, chunk)) hash.update(chunk.subarray(0, n));
    return hash.digest("hex");
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
