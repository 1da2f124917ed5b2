/**
 * Files of secrets that a search meets on its way: `grep -r x .`, `rg -uuu x`, `git grep x`. A bounded look, nearest folders first; a
 * file beyond it is not found. It spares people an answer full of keys. The boundary is the sandbox.
 */
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { ShellCommand } from "../../../core/contracts/index.ts";
import { isSecretFile } from "../../../core/kit/index.ts";
import { gitEnvironment } from "./git.ts";
import type { Looks } from "./looks.ts";
import type { CommandPlace, FoundLink } from "./placed.ts";
import { baseName } from "./shell/index.ts";
import { fitsAny } from "./way.ts";

/** Folders that are read. One takes a fraction of a millisecond. */
const MOST_FOLDERS = 400;
/** What is installed, and what git keeps: nobody's own keys. */
const PASSED_OVER = new Set(["node_modules", ".git"]);
const PATIENCE_MS = 2000;

interface Search {
  /** Where it looks, with the word that says so; the first is the program, for a search where it stands. */
  places: [word: number, path: string][];
  isMet(name: string, isFolder: boolean): boolean;
  /** Only what git knows. */
  isTracked?: boolean;
}

export async function secretsMet(command: ShellCommand, around: CommandPlace, looks: Looks): Promise<FoundLink[]> {
  const texts = command.words.map((word) => word.literal ?? word.guess);
  const search = readSearch(texts);
  if (!search) return [];
  for (const [word, place] of search.places) {
    const top = resolve(around.cwd, place);
    // What lies elsewhere asks by itself, and is not looked at.
    if (![around.home, ...(around.roots ?? [])].some((root) => top === root || top.startsWith(`${root}/`))) continue;
    const path = search.isTracked
      ? await trackedSecret(command.program?.real ?? "git", top, around)
      : await secretBelow(top, search, looks);
    if (path !== undefined) return [{ word, path: search.isTracked ? path : join(place, path), isSecret: true }];
  }
  return [];
}

function readSearch(texts: readonly string[]): Search | undefined {
  const name = baseName(texts[0]!);
  if (name === "rg") return byRipgrep(texts);
  if (/^[ef]?grep$/.test(name)) return byGrep(texts);
  return name === "git" ? byGit(texts) : undefined;
}

function byGrep(texts: readonly string[]): Search | undefined {
  const { operands, given } = read(
    texts,
    /^-[A-Za-z]*[emABCdDf]$|^--(regexp|file|max-count|include|exclude|exclude-dir|directories|(after-|before-)?context)$/,
  );
  const isRecursive =
    given.some(([option]) => /^(-[A-Za-z]*[rR]|--(dereference-)?recursive$)/.test(option)) ||
    given.some(([option, value]) => /^(-[A-Za-z]*d|--directories)$/.test(option) && value === "recurse") ||
    texts.includes("-drecurse");
  if (!isRecursive) return undefined;
  const hasPattern = given.some(([option]) => /^(-[A-Za-z]*[ef]|--(regexp|file)$)/.test(option));
  const values = (name: string) => given.flatMap(([option, value]) => (option === name ? [value] : []));
  const [wanted, left, closed] = ["--include", "--exclude", "--exclude-dir"].map(values);
  return {
    places: placesIn(hasPattern ? operands : operands.slice(1)),
    isMet: (file, isFolder) =>
      isFolder
        ? !fitsOne(closed!, file)
        : (wanted!.length === 0 || fitsOne(wanted!, file, true)) && !fitsOne(left!, file),
  };
}

function byRipgrep(texts: readonly string[]): Search | undefined {
  const { operands, given } = read(
    texts,
    /^-[A-Za-z]*[ABCegjmMtTdrEf]$|^--(regexp|file|max-count|max-depth|max-columns|glob|iglob|type|type-not|replace|encoding|sort|sortr|(after-|before-)?context)$/,
  );
  const options = given.map(([option]) => option);
  if (options.some((option) => /^--(files|type-list)$/.test(option))) return undefined;
  const hasPattern = options.some((option) => /^(-[A-Za-z]*[ef]|--(regexp|file)$)/.test(option));
  const open = options.reduce((sum, option) => sum + openness(option), 0);
  const globs = given.flatMap(([option, value]) => (/^(-[A-Za-z]*g|--i?glob)$/.test(option) ? [value] : []));
  const wanted = globs.filter((glob) => !glob.startsWith("!"));
  const left = globs.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1));
  return {
    places: placesIn(hasPattern ? operands : operands.slice(1)),
    isMet: (file, isFolder) =>
      (open > 1 || !file.startsWith(".") || (!isFolder && fitsOne(wanted, file))) &&
      !fitsOne(left, file) &&
      (isFolder || wanted.length === 0 || fitsOne(wanted, file, true)),
  };
}

/** `-uu` and `--hidden` show hidden files. */
function openness(option: string): number {
  if (/^--hidden$|^-[A-Za-z]*\./.test(option)) return 2;
  if (option === "--unrestricted") return 1;
  return /^-[A-Za-z]+$/.test(option) ? option.split("u").length - 1 : 0;
}

function byGit(texts: readonly string[]): Search | undefined {
  const at = texts.findIndex((text, i) => i > 0 && !text.startsWith("-"));
  if (texts[at] !== "grep") return undefined;
  const { operands, given } = read(
    texts.slice(at),
    /^-[A-Za-z]*[ABCefm]$|^--(max-depth|max-count|threads|(after-|before-)?context)$/,
  );
  const hasPattern = given.some(([option]) => /^-[A-Za-z]*[ef]/.test(option));
  const places = placesIn(hasPattern ? operands : operands.slice(1)).map(([word, path]): [number, string] => [
    word === 0 ? 0 : word + at,
    path,
  ]);
  const isTracked = !given.some(([option]) => /^--(untracked|no-index)/.test(option));
  return { places, isTracked, isMet: () => true };
}

/** Options with their values, and the other words with their places. */
function read(
  texts: readonly string[],
  takesNext: RegExp,
): { operands: [number, string][]; given: [string, string][] } {
  const operands: [number, string][] = [];
  const given: [string, string][] = [];
  let isOver = false;
  for (let i = 1; i < texts.length; i++) {
    const text = texts[i]!;
    const cut = text.indexOf("=");
    if (isOver || text === "-" || !text.startsWith("-")) operands.push([i, text]);
    else if (text === "--") isOver = true;
    else if (takesNext.test(text)) given.push([text, texts[++i] ?? ""]);
    else if (text.startsWith("--") && cut > 0) given.push([text.slice(0, cut), text.slice(cut + 1)]);
    // `-g*.ts`, `-r`: as a group of letters, and as a letter with its value.
    else
      given.push([text, ""], ...(text.startsWith("--") ? [] : [[text.slice(0, 2), text.slice(2)] as [string, string]]));
  }
  return { operands, given };
}

function placesIn(operands: readonly [number, string][]): [number, string][] {
  return operands.length > 0 ? [...operands] : [[0, "."]];
}

/** Patterns with brackets are not worked out: `unclear` says what they count as. */
function fitsOne(patterns: readonly string[], name: string, unclear = false): boolean {
  return patterns.some((pattern) => {
    if (/[[{\\]/.test(pattern)) return unclear;
    return fitsAny(pattern.slice(pattern.lastIndexOf("/") + 1), name);
  });
}

async function secretBelow(top: string, search: Search, looks: Looks): Promise<string | undefined> {
  if (!(await looks.isFolder(top))) return undefined;
  const waiting = [""];
  for (let i = 0; i < waiting.length && i < MOST_FOLDERS; i++) {
    const folder = waiting[i]!;
    for (const entry of (await looks.entries(join(top, folder))) ?? []) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!PASSED_OVER.has(entry.name) && search.isMet(entry.name, true)) waiting.push(path);
      } else if (entry.isFile() && isSecretFile(path) && search.isMet(entry.name, false)) return path;
    }
  }
  return undefined;
}

/** The first file of secrets that git knows at or below a place. Asking runs nothing that the repository names. */
async function trackedSecret(git: string, place: string, { cwd, home }: CommandPlace): Promise<string | undefined> {
  const env = {
    ...gitEnvironment([]),
    HOME: home,
    GIT_CEILING_DIRECTORIES: resolve(home, ".."),
    PATH: "/usr/bin:/bin",
  };
  try {
    const { stdout } = await promisify(execFile)(git, ["ls-files", "-z", "--full-name", "--", place], {
      cwd,
      env,
      timeout: PATIENCE_MS,
      maxBuffer: 16 * 1024 * 1024,
    });
    return stdout.split("\0").find((path) => isSecretFile(path));
  } catch {
    return undefined;
  }
}
