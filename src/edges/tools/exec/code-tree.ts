/**
 * What a command may load besides the files it names: `x.py` imports `y.py`, `t.sh` sources `lib.sh`, `npm test` reads
 * package.json. An approval of such a command is bound to the workspace as it stands when the question is asked. Files of every name count: a script can
 * source a note or a picture, and the script's author chooses which.
 *
 * By identity, size and time of change, not by content: nothing can be written without changing them, and planning stays quick.
 */
import { createHash, type Hash } from "node:crypto";
import { type BigIntStats, lstatSync } from "node:fs";
import type { ShellPlan, ShellReasonKind } from "../../../core/contracts/index.ts";
import { walkTree } from "../../../core/files/index.ts";
import { openInside } from "../paths/index.ts";
import { baseName } from "./shell/index.ts";

/** Interpreters, and programs that run what files of the project tell them to. */
const LOADS =
  /^((ba|da|z|k|a|fi|c|tc)?sh|source|\.|python[\d.]*|pypy\d*|perl[\d.]*|ruby[\d.]*|node|nodejs|bun|deno|tsx|ts-node|php[\d.]*|lua[\d.]*|tclsh|expect|Rscript|julia|osascript|pwsh|npm|pnpm|yarn|npx|bunx|uvx?|pipx?|make|gmake|cmake|ninja|meson|just|task|rake|bundle|composer|pytest|tox|nox|poetry|hatch|cargo|go|gradle|gradlew|mvn|mvnw|sbt|ant|bazel|vitest|jest|mocha|tsc|eslint|webpack|vite|rollup|docker-compose|ansible.*|terraform)$/;
/** Programs that run what files of the project say, with one of these words. */
const BUILDS = /^(docker|podman|nerdctl)$/;
const BUILDING = /^(compose|build|buildx|bake|stack)$/;
const ONLY_ASKS = /^(-v|-V|--version|-version|version|--help|-h)$/;
/** Ours, or git's. */
const CLOSED = new Set([".git", ".lares", ".cache"]);
/** What is installed: looked at by itself, so that it does not use up the room for the project's own files. */
const INSTALLED = new Set(["node_modules", ".venv", "venv", "__pycache__"]);
/** Looked at in one go; more than this takes too long to plan with. */
const MOST_FILES = 5000;
const DEPTH = 12;

/** Whether any of its commands loads code that the words do not show. */
export function loadsCode({ commands }: ShellPlan): boolean {
  return commands.some(({ words, program }) => {
    const args = words.slice(1).map((word) => word.guess);
    if (args.length > 0 && args.every((arg) => ONLY_ASKS.test(arg))) return false;
    const name = words[0]!.guess;
    // A file that cannot run yet may by the time it is allowed to.
    if (program ? !program.trusted : name.includes("/")) return true;
    return LOADS.test(baseName(name)) || (BUILDS.test(baseName(name)) && args.some((arg) => BUILDING.test(arg)));
  });
}

/**
 * With one of these the shell may run what only data says: `$((x))` with `a[$(cmd)]` in `x`, or `$x` as a program. Of a text that isn't
 * understood nobody knows.
 */
const RUNS_DATA: ReadonlySet<ShellReasonKind> = new Set(["unparsed", "evaluates", "computed-program", "hidden-code"]);

/** Whether the shell may run something that it finds in data. In a text that could be settled it finds numbers and plain text only. */
export function evaluatesData({ reasons, settled }: ShellPlan): boolean {
  return !settled && reasons.some(({ kind }) => RUNS_DATA.has(kind));
}

/** Programs that take what they are fed for names of files to act on, or for changes to make. */
const OBEYS = /^(xargs|parallel|read|mapfile|readarray|patch)$/;

/** Whether the contents of a file decide what its commands act on: `xargs rm < list`, `rm $(cat list)`, `git apply x.diff`. */
export function obeysData({ commands, reasons }: ShellPlan): boolean {
  return (
    reasons.some(({ kind }) => kind === "substitution") ||
    commands.some(({ words: [name, ...args] }) => {
      const program = baseName(name!.guess);
      return OBEYS.test(program) || (program === "git" && args.some(({ guess }) => /^(apply|am)$/.test(guess)));
    })
  );
}

export interface CodeTree {
  hash: string;
  /** All that is installed is part of it, too. */
  isWhole: boolean;
}

/** One hash for the files in these folders, or undefined when there are too many to know. */
export async function codeTree(folders: readonly string[]): Promise<CodeTree | undefined> {
  const hash = createHash("sha256");
  const own = { left: MOST_FILES };
  const installed = { left: MOST_FILES };
  for (const folder of folders) {
    const inside = await openInside(folder, ".");
    try {
      if (!(await addFiles(hash, folder, inside.directory(), own, installed))) return undefined;
    } finally {
      await inside.close();
    }
  }
  return { hash: hash.digest("hex"), isWhole: installed.left > 0 };
}

/** False when there are more than are looked at. */
async function addFiles(
  hash: Hash,
  at: string,
  top: Parameters<typeof walkTree>[0],
  room: { left: number },
  installed?: { left: number },
): Promise<boolean> {
  let isCut = false;
  const onMore = () => {
    isCut = true;
  };
  const closed = { has: (name: string) => CLOSED.has(name) || (installed !== undefined && INSTALLED.has(name)) };
  for await (const { path, dir, name, kind } of walkTree(top, { depth: DEPTH, closed, onMore })) {
    if (isCut || --room.left <= 0) {
      room.left = 0;
      return false;
    }
    if (kind === "directory" && installed && INSTALLED.has(name)) {
      const below = await dir.enter(name).catch(() => undefined);
      if (!below) continue;
      try {
        await addFiles(hash, `${at}/${path}`, below, installed);
      } finally {
        await below.close();
      }
    }
    if (kind !== "file" && kind !== "link") continue;
    const stats = look(await dir.at(name));
    if (!stats) continue;
    hash.update(`${at}\0${path}\0${stats.ino}\0${stats.size}\0${stats.ctimeNs}\0${stats.mode}\n`);
  }
  return true;
}

/** At once: it takes microseconds, and a tenth of what a trip to another thread costs. The walk itself waits at each folder. */
function look(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
