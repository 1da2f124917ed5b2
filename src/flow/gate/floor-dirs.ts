/** Where the commands of a text may run, and what the links it makes lead to. */
import type { ShellCommand, ShellPlan } from "../../core/contracts/index.ts";
import { entered } from "../../core/kit/index.ts";
import { absolute, fromRoot } from "./paths.ts";

/** A text that changes its directory more often than this is nobody's honest command; what is first counts. */
export const MOST_DIRS = 24;
const MOST_LINKS = 32;

/** What the commands so far may have changed. */
export interface FloorWays {
  dirs: Set<string>;
  /** Where the text's first command goes; nothing runs when it can't. */
  first?: string;
  /** From the path of a link to all it may lead to. */
  links: Map<string, Set<string>>;
  /** Those that are no links but the place itself under another name. */
  mounts: Set<string>;
  /** How many of them the text makes. */
  made: number;
  /** Where a `cd` may begin besides the working directory. */
  cdPaths: Set<string>;
  /** More links than anyone needs; beyond this, where a path leads is treated as unknown. */
  isLost: boolean;
  /** What was found out since the last new link: a text may name the same path hundreds of times. */
  found: Map<string, string[]>;
}

export function waysFrom(shell: Pick<ShellPlan, "cwd" | "links" | "text" | "commands">, userHome: string): FloorWays {
  const { cwd, links = [] } = shell;
  const ways: FloorWays = {
    dirs: new Set([cwd]),
    links: new Map(),
    mounts: new Set(),
    made: 0,
    cdPaths: new Set(),
    isLost: false,
    found: new Map(),
  };
  for (const { from, to } of links) link(ways, absolute(from, cwd, userHome), to);
  const first = firstDir(shell);
  if (first !== undefined) ways.first = first;
  return ways;
}

/**
 * The folder in which everything of a text runs: `cd DIR && …`, with nothing behind it that would also run where the `cd` fails.
 * Any other `cd` may fail, end with its subshell, or be reverted.
 */
function firstDir({ text, commands }: Pick<ShellPlan, "text" | "commands">): string | undefined {
  const [first, dir, ...more] = commands[0]?.words ?? [];
  if (first?.literal !== "cd" || dir?.literal === undefined || more.length > 0 || commands[0]!.within.length > 0)
    return undefined;
  const rest = /^\s*cd\s+(?!-)[^\s;&|<>(){}`$#\\]+\s*&&([\s\S]*)$/.exec(text)?.[1];
  if (rest === undefined) return undefined;
  // Pipes and further `&&` only run what stands behind a `cd` that worked.
  return /[;\n&(){}`]|\|\|/.test(rest.replace(/&&|\d?>&\d|&>/g, " ")) ? undefined : dir.literal;
}

/** A path may be several: for a pattern, and where it is not known whether a link is there. */
const MOST_ENDS = 16;
const MOST_PARTS = 200;
const MOST_FOUND = 5000;

/**
 * The absolute forms of a word: as it is written, and over the links that are there or that the text itself makes. `isItself`: the
 * program works on a link, not on what it leads to, unless the word says so by a slash at its end.
 */
export function leadsTo(
  word: string,
  cwd: string,
  { ways, userHome, isItself = false }: { ways: FloorWays; userHome: string; isItself?: boolean },
): string[] {
  const key = `${isItself ? "itself" : ""}\0${cwd}\0${word}`;
  const known = ways.found.get(key);
  if (known) return known;
  const found = lookUp(word, cwd, { ways, userHome, isItself });
  if (ways.found.size < MOST_FOUND) ways.found.set(key, found);
  return found;
}

function lookUp(
  word: string,
  cwd: string,
  { ways, userHome, isItself }: { ways: FloorWays; userHome: string; isItself: boolean },
): string[] {
  const plain = absolute(word, cwd, userHome);
  if (ways.links.size === 0) return [plain];
  const parts = fromRoot(word, cwd, userHome).split("/");
  // Where such a path leads was not looked up either, and the floor refuses what could do harm by it (isCut).
  if (parts.length > MOST_PARTS) return [plain];
  const staysThere = isItself && !/\/\.?$/.test(word);
  let ends = [""];
  for (const [i, part] of parts.entries()) {
    if (part === "" || part === ".") continue;
    const isLast = i === parts.length - 1;
    ends = ends.flatMap((end) => {
      if (part === "..") return [end.slice(0, Math.max(0, end.lastIndexOf("/")))];
      const next = `${end}/${part}`;
      const to = ways.links.get(next);
      if (!to || (isLast && staysThere && !ways.mounts.has(next))) return [next];
      const targets = [...to].map((one) => (one === "/" ? "" : one));
      return /[*?]/.test(part) ? [next, ...targets] : targets;
    });
    // The shorter a path, the more is lost with it.
    if (ends.length > MOST_ENDS) ends = ends.sort((a, b) => a.length - b.length).slice(0, MOST_ENDS);
  }
  return [...new Set([plain, ...ends.map((end) => end || "/")])];
}

function link(ways: FloorWays, from: string, to: string): void {
  // A link that contains itself would loop forever.
  if (from === to) return;
  ways.links.set(from, (ways.links.get(from) ?? new Set()).add(to));
  ways.found.clear();
}

/**
 * Takes in what a command changes for those after it: `cd / && rm -rf *`, `ln -s / r && rm -rf r/*`. Each place that was entered
 * stays possible, because a later `cd` may fail, and a subshell ends.
 */
export function follow(command: ShellCommand, ways: FloorWays, userHome: string): void {
  if (ways.first !== undefined) {
    const [cwd] = ways.dirs;
    ways.dirs = new Set(leadsTo(ways.first, cwd!, { ways, userHome }));
    delete ways.first;
    return;
  }
  const [name = "", ...args] = command.words.map((word) => word.literal ?? word.guess);
  const settings = [...command.assignments.map((one) => [one.name, one.value.guess] as const), ...given(args)];
  for (const [variable, value] of settings) {
    if (variable !== "CDPATH") continue;
    for (const one of value.split(":")) if (one !== "" && ways.cdPaths.size < MOST_DIRS) ways.cdPaths.add(one);
  }
  const base = baseName(name);
  if (base === "ln" || base === "mount") linked(base, args, ways, userHome);
  const starts = /^(cd|pushd|chdir)$/.test(name) ? [...ways.dirs, ...ways.cdPaths] : [...ways.dirs];
  for (const path of entered(name, args)) {
    for (const dir of starts) {
      if (ways.dirs.size >= MOST_DIRS) return;
      for (const from of leadsTo(dir, [...ways.dirs][0]!, { ways, userHome }))
        for (const to of leadsTo(path, from, { ways, userHome })) ways.dirs.add(to);
    }
  }
}

function given(args: readonly string[]): (readonly [string, string])[] {
  return args.flatMap((arg) => (arg.startsWith("CDPATH=") ? [["CDPATH", arg.slice(7)] as const] : []));
}

function linked(name: string, args: readonly string[], ways: FloorWays, userHome: string): void {
  const isLink = args.some((arg) => (name === "ln" ? /^(-[a-zA-Z]*s|--symbolic$)/ : /^(-B|--r?bind)$/).test(arg));
  const operands = args.filter((arg) => !arg.startsWith("-"));
  if (!isLink || operands.length === 0) return;
  const target = operands[0]!;
  const at = operands[1] ?? baseName(target);
  for (const dir of [...ways.dirs]) {
    for (const to of leadsTo(target, dir, { ways, userHome }))
      for (const path of [at, `${at}/${baseName(target)}`]) {
        const from = absolute(path, dir, userHome);
        if (name === "mount") {
          ways.mounts.add(from);
          ways.found.clear();
        }
        if (++ways.made > MOST_LINKS) ways.isLost = true;
        else link(ways, from, to);
      }
  }
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
