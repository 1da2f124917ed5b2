/**
 * Files that only hold data: where a rule allows a command, its output may go to one of them in the agent's own folders without a
 * rule for writing. The list says what data looks like, not what is dangerous: a name nobody thought of asks. Pure.
 */
import { isSecretFile } from "../../core/kit/index.ts";
import { matchesGlob } from "./glob.ts";
import { absolute, isInWorkspace } from "./paths.ts";
import { isLooker } from "./programs.ts";
import { type GatePlace, parseExecRule, stripRoot } from "./rules.ts";

const DATA = /\.(txt|text|log|out|err|csv|tsv|md|markdown|json|jsonl|ndjson|html|diff|patch)$/i;
/** Texts that agents take instructions from, this one or others that work in the same folder, in any spelling. */
const INSTRUCTS =
  /^(soul|agents?|claude|user|memory|heartbeat|skill|gemini|qwen|crush|warp|opencode|copilot|codex|conventions|identity|tools|boot|bootstrap|prompt|rules|system)(\.local|\.override)?\.(md|markdown|txt)$|instructions\.(md|markdown|txt)$/i;
/** Data by its ending, but it tells a program what to install, build or run. */
const STEERS =
  /requirements|constraints|^test_|_test\.|^tests?.*\.txt$|^compose|docker-compose|devcontainer|presets\.json$|^(cmakelists|meson_options|conanfile)\.txt$|^a\.out$|^(package|package-lock|npm-shrinkwrap|composer|bower|deno|lerna|nx|turbo|rush|project|workspace|angular|mcp|hooks?|plugins?|manifest|settings|tasks|launch|jest|karma|nodemon|ecosystem|vercel|firebase|renovate|lefthook|opencode|crush|biome|babel)\.json$|^[jt]sconfig|(config|conf|rc)\.json$/i;
/** Folders whose files other programs load, by any name. */
const LOADED_FOLDER =
  /(^|\/)(node_modules|site-packages|skills|hooks|plugins|agents|commands|prompts|rules|requirements)\//i;

/** By its name alone. What stands there now, and whether a link is on the way, is a fact of the plan. */
export function isDataFile(
  path: string,
  { place, cwd, rules }: { place: GatePlace; cwd: string; rules: readonly string[] },
): boolean {
  if (!isInWorkspace(path, place)) return false;
  const own = stripRoot(path, place);
  const name = own.slice(own.lastIndexOf("/") + 1);
  // Some file systems drop letters that can't be seen from a name.
  if (/\/\.|[\p{Cc}\p{Cf}]/u.test(own) || !DATA.test(name) || isSecretFile(path)) return false;
  if (INSTRUCTS.test(name) || STEERS.test(name) || LOADED_FOLDER.test(own)) return false;
  return !rules.some((rule) => isNamedBy(rule, path, { place, cwd }));
}

/** A rule lets a program run this very file, or take it as settings: `node build.txt`, `make -f steps.txt *`. */
function isNamedBy(rule: string, path: string, { place, cwd }: { place: GatePlace; cwd: string }): boolean {
  const [program, ...args] = parseExecRule(rule).words;
  if (program === undefined) return false;
  const isOnlyShown = isLooker(program);
  const named = isOnlyShown ? [program] : [program, ...args.map((word) => word.replace(/^--?[\w-]+=/, ""))];
  return named.some(
    (word) =>
      !/^[*?]*$/.test(word) &&
      [cwd, place.workspace, ...(place.roots ?? [])].some((from) =>
        matchesGlob(absolute(word, from, place.userHome), path),
      ),
  );
}
