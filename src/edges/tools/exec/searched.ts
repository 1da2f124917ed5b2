/**
 * Files of secrets that a search meets on its way: `grep -r x .`, `rg -uuu x`, `git grep x`, `diff -r a b`. A bounded look, nearest
 * folders first; a file beyond it is not found. It spares people an answer full of keys. The boundary is the sandbox.
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
  /** Folders are gone through only where there are two to compare. */
  isPaired?: boolean;
  /** Only what git knows. */
  isTracked?: boolean;
  isGit?: true;
}

export async function secretsMet(command: ShellCommand, around: CommandPlace, looks: Looks): Promise<FoundLink[]> {
  const texts = command.words.map((word) => word.literal ?? word.guess);
  const search = readSearch(texts);
  if (!search) return [];
  if (search.isPaired && !(await hasTwoFolders(search, around.cwd, looks))) return [];
  if (search.isTracked) {
    const path = await trackedSecret(
      command.program?.real ?? "git",
      await pathspecs(search, around.cwd, looks),
      around,
    );
    return path === undefined ? [] : [{ word: search.places[0]?.[0] ?? 0, path, isSecret: true }];
  }
  for (const [word, place] of search.places) {
    // A pattern of git's own may mean any folder of the repository.
    const top = isMagic(place) && search.isGit ? around.home : resolve(around.cwd, place);
    const path = await secretBelow(top, search, looks);
    if (path !== undefined) return [{ word, path: join(place, path), isSecret: true }];
  }
  return [];
}

/** What git's own patterns stand for is git's to say. A word that is neither a pattern nor there may be a commit, with all its files. */
async function pathspecs({ places }: Search, cwd: string, looks: Looks): Promise<string[]> {
  const specs: string[] = [];
  for (const [, place] of places) {
    const isPath = isMagic(place) || (await looks.at(resolve(cwd, place))) !== undefined;
    if (isPath) specs.push(place);
  }
  return specs;
}

function isMagic(place: string): boolean {
  return /^:|[*?[]/.test(place);
}

async function hasTwoFolders({ places }: Search, cwd: string, looks: Looks): Promise<boolean> {
  let folders = 0;
  for (const [, place] of places) if (await looks.isFolder(resolve(cwd, place))) folders++;
  return folders > 1;
}

function readSearch(texts: readonly string[]): Search | undefined {
  const name = baseName(texts[0]!);
  if (name === "rg") return byRipgrep(texts);
  if (/^[efr]?grep$/.test(name)) return byGrep(texts, name === "rgrep");
  if (name === "diff") return byDiff(texts);
  if (UNPACKS.test(name)) return byUnpacking(texts);
  if (name === "tar") return byPacking(texts);
  return name === "git" ? byGit(texts) : undefined;
}

const UNPACKS = /^(g(un)?zip|zcat|(un)?compress|(un)?pigz|(un)?zstd|zstdcat|(un)?lz4|lz4cat)$/;

function byGrep(texts: readonly string[], isAlwaysDeep: boolean): Search | undefined {
  const { operands, given } = read(texts, {
    letters: "emABCdDf",
    long: /^--(regexp|file|max-count|include|exclude|exclude-dir|exclude-from|directories|devices|label|binary-files|(after-|before-)?context)$/,
  });
  const isRecursive =
    isAlwaysDeep ||
    given.some(({ option }) => /^(-[rR]|--(dereference-)?recursive)$/.test(option)) ||
    // It takes the beginning of the word, too.
    given.some(({ option, value }) => /^(-d|--directories)$/.test(option) && "recurse".startsWith(value));
  if (!isRecursive) return undefined;
  const hasPattern = given.some(({ option }) => /^(-[ef]|--(regexp|file))$/.test(option));
  // It compares names only, so one with a slash leaves out nothing.
  const names = given.filter(({ option, value }) => option === "--include" || !value.includes("/"));
  const closed = names.flatMap(({ option, value }) => (option === "--exclude-dir" ? [value] : []));
  const wishes = names
    .filter(({ option }) => /^--(in|ex)clude$/.test(option))
    .map(({ option, value }): NamePattern => ({ pattern: value, isWanted: option === "--include" }));
  return {
    places: placesIn(hasPattern ? operands : operands.slice(1)),
    isMet: (file, isFolder) =>
      isFolder
        ? !closed.some((pattern) => surelyFits(pattern, file))
        : (lastWish(wishes, file) ?? !wishes[0]?.isWanted),
  };
}

function byRipgrep(texts: readonly string[]): Search | undefined {
  const { operands, given } = read(texts, {
    letters: "ABCegjmMtTdrEf",
    long: /^--(regexp|file|max-count|max-depth|max-columns|glob|iglob|type|type-not|replace|encoding|sort|sortr|color|colors|(after-|before-)?context)$/,
  });
  if (given.some(({ option }) => /^--(files|type-list)$/.test(option))) return undefined;
  const hasPattern = given.some(({ option }) => /^(-[ef]|--(regexp|file))$/.test(option));
  const open = given.reduce((sum, { option }) => sum + openness(option), 0);
  const wishes = given
    .filter(({ option }) => /^(-g|--i?glob)$/.test(option))
    .map(({ value }): NamePattern => {
      const isWanted = !value.startsWith("!");
      return { pattern: isWanted ? value : value.slice(1), isWanted };
    });
  const isPicky = wishes.some(({ isWanted }) => isWanted);
  return {
    places: placesIn(hasPattern ? operands : operands.slice(1)),
    // What is wanted by a pattern is searched even if it is hidden.
    isMet: (file, isFolder) =>
      lastWish(wishes, file) ?? ((open > 1 || !file.startsWith(".")) && (isFolder || !isPicky)),
  };
}

/** `-uu` and `--hidden` show hidden files. */
function openness(option: string): number {
  if (/^(--hidden|-\.)$/.test(option)) return 2;
  return /^(--unrestricted|-u)$/.test(option) ? 1 : 0;
}

/** Two folders: the files in them are compared, with `-N` also those that only one of them has. */
function byDiff(texts: readonly string[]): Search | undefined {
  const { operands, given } = read(texts, {
    letters: "CDFILSUWXx",
    long: /^--(label|exclude|exclude-from|ignore-matching-lines|show-function-line|width|starting-file|from-file|to-file|ifdef|horizon-lines|tabsize)$/,
  });
  if (given.some(({ option }) => /^(-q|--brief)$/.test(option))) return undefined;
  const isRecursive = given.some(({ option }) => /^(-r|--recursive)$/.test(option));
  const left = given.flatMap(({ option, value }) => (/^(-x|--exclude)$/.test(option) ? [value] : []));
  const byOption = given.flatMap(({ option, value, word }): [number, string][] =>
    /^--(from|to)-file$/.test(option) ? [[word, value]] : [],
  );
  return {
    places: [...operands, ...byOption],
    isPaired: true,
    isMet: (file, isFolder) => (isRecursive || !isFolder) && !left.includes(file),
  };
}

/** `zcat -rf .` prints what is in every file. */
function byUnpacking(texts: readonly string[]): Search | undefined {
  const { operands, given } = read(texts, { letters: "", long: /^$/ });
  const isRecursive = given.some(({ option }) => /^(-r|--r.*)$/.test(option));
  return isRecursive ? { places: placesIn(operands), isMet: () => true } : undefined;
}

/** `tar -czf x.tgz .` puts them into the archive. What is left out has to be said before the folder. */
function byPacking([, mode = "", , ...members]: readonly string[]): Search | undefined {
  if (!/^-?c/.test(mode)) return undefined;
  const first = members.findIndex((member) => !member.startsWith("-"));
  const left = members.slice(0, Math.max(first, 0)).flatMap((word) => /^--exclude=(.+)$/s.exec(word)?.[1] ?? []);
  const places = members.flatMap((place, i): [number, string][] => (place.startsWith("-") ? [] : [[i + 3, place]]));
  return { places, isMet: (file) => !left.some((pattern) => surelyFits(pattern, file)) };
}

function byGit(texts: readonly string[]): Search | undefined {
  const at = texts.findIndex((text, i) => i > 0 && !text.startsWith("-"));
  const moved = (places: readonly [number, string][]) =>
    places.map(([word, path]): [number, string] => [word === 0 ? 0 : word + at, path]);
  // Outside a repository, or with --no-index, it compares the folders themselves.
  if (texts[at] === "diff") {
    const { operands } = read(texts.slice(at), { letters: "", long: /^$/ });
    return { places: moved(operands), isPaired: true, isMet: () => true };
  }
  if (texts[at] !== "grep") return undefined;
  const { operands, given } = read(texts.slice(at), {
    letters: "ABCefm",
    long: /^--(max-depth|max-count|threads|(after-|before-)?context)$/,
  });
  const hasPattern = given.some(({ option }) => /^-[ef]$/.test(option));
  const isTracked = !given.some(({ option }) => /^--(untracked|no-index)/.test(option));
  return {
    places: moved(placesIn(hasPattern ? operands : operands.slice(1))),
    isTracked,
    isGit: true,
    isMet: () => true,
  };
}

interface ReadOption {
  option: string;
  value: string;
  word: number;
}

/** Options with their values, and the other words with their places. In a group of letters the first that takes a value takes the rest. */
function read(
  texts: readonly string[],
  { letters, long }: { letters: string; long: RegExp },
): { operands: [number, string][]; given: ReadOption[] } {
  const operands: [number, string][] = [];
  const given: ReadOption[] = [];
  let isOver = false;
  for (let i = 1; i < texts.length; i++) {
    const text = texts[i]!;
    const word = i;
    const cut = text.indexOf("=");
    if (isOver || text === "-" || !text.startsWith("-")) operands.push([i, text]);
    else if (text === "--") isOver = true;
    else if (text.startsWith("--")) {
      if (cut > 0) given.push({ option: text.slice(0, cut), value: text.slice(cut + 1), word });
      else given.push({ option: text, value: long.test(text) ? (texts[++i] ?? "") : "", word });
    } else
      for (let j = 1; j < text.length; j++) {
        const takes = letters.includes(text[j]!);
        const rest = text.slice(j + 1);
        given.push({ option: `-${text[j]}`, value: takes ? rest || (texts[++i] ?? "") : "", word });
        if (takes) break;
      }
  }
  return { operands, given };
}

function placesIn(operands: readonly [number, string][]): [number, string][] {
  return operands.length > 0 ? [...operands] : [[0, "."]];
}

/** A pattern of files that are to be searched, or left out. */
interface NamePattern {
  pattern: string;
  isWanted: boolean;
}

/** Of several patterns the last that fits decides. Undefined: none does. */
function lastWish(wishes: readonly NamePattern[], name: string): boolean | undefined {
  return wishes.findLast(({ pattern, isWanted }) => (isWanted ? mayFit(pattern, name) : surelyFits(pattern, name)))
    ?.isWanted;
}

/** Patterns with brackets are not worked out, and of those with folders only the end counts. */
function mayFit(pattern: string, name: string): boolean {
  if (/[[{\\]|\/$/.test(pattern)) return true;
  return fitsAny(pattern.slice(pattern.lastIndexOf("/") + 1).toLowerCase(), name.toLowerCase());
}

function surelyFits(pattern: string, name: string): boolean {
  const plain = pattern.replace(/^\*\*\//, "");
  return !/[[{\\/]/.test(plain) && fitsAny(plain, name);
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
async function trackedSecret(
  git: string,
  specs: readonly string[],
  { cwd, home }: CommandPlace,
): Promise<string | undefined> {
  const env = {
    ...gitEnvironment([]),
    HOME: home,
    GIT_CEILING_DIRECTORIES: resolve(home, ".."),
    PATH: "/usr/bin:/bin",
  };
  try {
    const { stdout } = await promisify(execFile)(git, ["ls-files", "-z", "--full-name", "--", ...specs], {
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
