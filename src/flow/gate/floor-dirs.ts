/** Where the commands of a text may run, and what the links it makes lead to. */
import type { ShellCommand } from "../../core/contracts/index.ts";
import { entered } from "../../core/kit/index.ts";
import { absolute, isInside, normalise } from "./paths.ts";

/** A text that changes its directory more often than this is nobody's honest command; what is first counts. */
const MOST_DIRS = 24;
const MOST_LINKS = 16;

/** What the commands so far may have changed. */
export interface Ways {
  dirs: Set<string>;
  /** From the path of a link to what it leads to. */
  links: Map<string, string>;
  /** Where a `cd` may begin besides the working directory. */
  cdPaths: Set<string>;
  /** More links than anybody needs: where a path leads is not known any more. */
  isLost: boolean;
}

export function waysFrom(cwd: string): Ways {
  return { dirs: new Set([cwd]), links: new Map(), cdPaths: new Set(), isLost: false };
}

/** The absolute form of a word, over the links that the text itself has made. */
export function leadsTo(word: string, cwd: string, { links }: Ways, userHome: string): string {
  let path = absolute(word, cwd, userHome);
  for (const [from, to] of links) if (isInside(path, from)) path = normalise(to + path.slice(from.length));
  return path;
}

/**
 * Takes in what a command changes for those after it: `cd / && rm -rf *`, `ln -s / r && rm -rf r/*`. Each place that was entered
 * stays possible, because a later `cd` may fail, and a subshell ends.
 */
export function follow(command: ShellCommand, ways: Ways, userHome: string): void {
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
      const from = leadsTo(dir, [...ways.dirs][0]!, ways, userHome);
      ways.dirs.add(leadsTo(path, from, ways, userHome));
    }
  }
}

function given(args: readonly string[]): (readonly [string, string])[] {
  return args.flatMap((arg) => (arg.startsWith("CDPATH=") ? [["CDPATH", arg.slice(7)] as const] : []));
}

function linked(name: string, args: readonly string[], ways: Ways, userHome: string): void {
  const isLink = args.some((arg) => (name === "ln" ? /^(-[a-zA-Z]*s|--symbolic$)/ : /^(-B|--r?bind)$/).test(arg));
  const operands = args.filter((arg) => !arg.startsWith("-"));
  if (!isLink || operands.length === 0) return;
  const target = operands[0]!;
  const at = operands[1] ?? baseName(target);
  for (const dir of [...ways.dirs]) {
    const to = leadsTo(target, dir, ways, userHome);
    for (const path of [at, `${at}/${baseName(target)}`]) {
      const from = absolute(path, dir, userHome);
      // A link that leads to a place around itself would turn for ever.
      if (ways.links.size >= MOST_LINKS) ways.isLost = true;
      else if (from !== to) ways.links.set(from, to);
    }
  }
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
