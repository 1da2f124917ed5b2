/**
 * What a command may load besides the files it names: `x.py` imports `y.py`, `t.sh` sources `lib.sh`, `npm test` reads
 * package.json. An approval of such a command is bound to the code of the workspace as it stands when the question is asked.
 *
 * By identity, size and time of change, not by content: nothing can be written without changing them, and planning stays quick.
 */
import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import type { ShellPlan } from "../../../core/contracts/index.ts";
import { walkTree } from "../../../core/files/index.ts";
import { openInside } from "../paths/index.ts";
import { baseName } from "./shell/index.ts";

/** Interpreters, and programs that run what files of the project tell them to. */
const LOADS =
  /^((ba|da|z|k|a|fi|c|tc)?sh|source|\.|python[\d.]*|pypy\d*|perl[\d.]*|ruby[\d.]*|node|nodejs|bun|deno|tsx|ts-node|php[\d.]*|lua[\d.]*|tclsh|expect|Rscript|julia|osascript|pwsh|npm|pnpm|yarn|npx|bunx|uvx?|pipx?|make|gmake|cmake|ninja|meson|just|task|rake|bundle|composer|pytest|tox|nox|poetry|hatch|cargo|go|gradle|gradlew|mvn|mvnw|sbt|ant|bazel|vitest|jest|mocha|tsc|eslint|webpack|vite|rollup|docker-compose|ansible.*|terraform)$/;
const ONLY_ASKS = /^(-v|-V|--version|-version|version|--help|-h)$/;
/** Data is not code: logs, tables and texts may change while a question waits. */
const CODE =
  /(\.([cm]?[jt]sx?|py|pyi|pth|sh|bash|zsh|rb|pl|pm|php|lua|tcl|r|jl|go|rs|java|kt|scala|gradle|c|h|cc|cpp|hpp|mk|cmake|so|node|wasm|toml|ya?ml|cfg|ini|env|svelte|vue)|(^|\/)(package(-lock)?|tsconfig[^/]*|composer|deno)\.json|(^|\/)(Makefile|GNUmakefile|Dockerfile|Rakefile|Gemfile|Justfile|Procfile)|(^|\/)\.[^/]*rc)$/i;
/** Kept out, and said to be: too large to look at, or ours. */
const CLOSED = new Set(["node_modules", ".git", ".lares", ".venv", "venv", "__pycache__", ".cache"]);
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
    return LOADS.test(baseName(name));
  });
}

/** One hash for the code in these folders, or undefined when there is too much of it to know. */
export async function codeTree(folders: readonly string[]): Promise<string | undefined> {
  const hash = createHash("sha256");
  let seen = 0;
  for (const folder of folders) {
    const inside = await openInside(folder, ".");
    try {
      let isCut = false;
      const onMore = () => {
        isCut = true;
      };
      for await (const { path, dir, name, kind } of walkTree(inside.directory(), {
        depth: DEPTH,
        closed: CLOSED,
        onMore,
      })) {
        if (++seen > MOST_FILES || isCut) return undefined;
        if (kind !== "file" && kind !== "link") continue;
        const stats = await lstat(await dir.at(name), { bigint: true }).catch(() => undefined);
        if (!stats) continue;
        const isProgram = kind === "file" && (stats.mode & 0o111n) !== 0n;
        if (!isProgram && kind === "file" && !CODE.test(path)) continue;
        hash.update(`${folder}\0${path}\0${stats.ino}\0${stats.size}\0${stats.ctimeNs}\0${stats.mode}\n`);
      }
    } finally {
      await inside.close();
    }
  }
  return hash.digest("hex");
}
