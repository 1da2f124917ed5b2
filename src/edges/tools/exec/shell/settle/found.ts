/**
 * Programs that are run on files which another one lists.
 *
 * `find … | xargs prog` and `find … -exec prog {} +`. A name with blanks or a line break in it is taken apart by xargs and may then
 * name any file, and a link that is found leads anywhere. So both become `find … -type f -exec prog {} +`, which hands on each plain
 * file whole; files of secrets with ordinary names (`.env.ts`) are skipped. find puts the found name in place of every
 * `{}`, inside other words too (`../{}`), so no other word may have one.
 */

/** Tests that narrow what is found; anything that joins, negates groups or acts is left alone. */
const NARROWS = /^-(name|iname|path|ipath|wholename|size|mtime|mmin|maxdepth|mindepth|newer|type)$/;

/** The words behind `find`, or undefined where they say more than which files. */
function narrowing(args: readonly string[]): string[] | undefined {
  const out: string[] = [];
  let isTyped = false;
  let i = 0;
  for (; i < args.length && !/^[-!(]/.test(args[i]!); i++) out.push(args[i]!);
  for (; i < args.length; i++) {
    const word = args[i]!;
    if (word === "-print" || word === "-print0") {
      if (i !== args.length - 1) return undefined;
    } else if (word === "!" || word === "-not") {
      if (!/^-(path|name|ipath|iname)$/.test(args[i + 1] ?? "")) return undefined;
      out.push(word);
    } else if (NARROWS.test(word) && args[i + 1] !== undefined) {
      if (word === "-type" && args[i + 1] !== "f") return undefined;
      isTyped ||= word === "-type";
      out.push(word, args[++i]!);
    } else return undefined;
  }
  return [...out, ...(isTyped ? [] : ["-type", "f"]), "!", "-name", ".env*"];
}

/** These show folders, too: they are handed on files alone only where what was typed means files. */
const SHOWS_FOLDERS = /^(ls|stat|du)$/;

function meansFiles(name: string, args: readonly string[]): boolean {
  const says = (word: string, i: number) =>
    (word === "-type" && args[i + 1] === "f") ||
    word === "-size" ||
    (/^-i?name$/.test(word) && /\.[A-Za-z0-9]+$/.test(args[i + 1] ?? ""));
  return !SHOWS_FOLDERS.test(name) || args.some(says);
}

export interface FindAction {
  /** What find gets before the action. */
  find: string[];
  /** The program that is run on what it finds, and its own words. */
  program: [string, ...string[]];
  /** All files at once, or one after the other. */
  end: "+" | ";";
}

/** `find … -exec prog words {} +`. */
export function withExec(args: readonly string[]): FindAction | undefined {
  const at = args.indexOf("-exec");
  if (at < 0) return undefined;
  const find = narrowing(args.slice(0, at));
  const [end, place, ...inner] = args.slice(at + 1).reverse();
  const [name, ...words] = inner.reverse();
  if (!find || (end !== "+" && end !== ";") || place !== "{}" || name === undefined) return undefined;
  if (hasPlace([...find, name, ...words]) || !meansFiles(name, args)) return undefined;
  return { find, program: [name, ...words], end };
}

/** `find … | xargs prog words`. */
export function withXargs(findArgs: readonly string[], xargs: readonly string[]): FindAction | undefined {
  const find = narrowing(findArgs);
  let end: FindAction["end"] = "+";
  let i = 0;
  for (; /^-/.test(xargs[i] ?? ""); i++) {
    const word = xargs[i]!;
    if (word === "-n1") end = ";";
    else if (!/^(-0|-r|--null|--no-run-if-empty)$/.test(word)) return undefined;
  }
  const [name, ...words] = xargs.slice(i);
  if (!find || name === undefined || hasPlace([...find, name, ...words]) || !meansFiles(name, findArgs))
    return undefined;
  return { find, program: [name, ...words], end };
}

function hasPlace(words: readonly string[]): boolean {
  return words.some((word) => word.includes("{}"));
}

/** Options of `wc` that say what to count. Others name a file whose lines it reads as names, and shows in its messages. */
const COUNTS = /^-[clmwL]+$/;

/**
 * `… | xargs wc -l` counts files that nobody has named, which tells nothing of what is in them. A file called
 * `--files0-from=FILE` would be an option, so the words get a `--` at their end. Undefined: xargs runs something else.
 */
export function countsFed(xargs: readonly string[]): { options: string[]; words: string[] } | undefined {
  const at = xargs.findIndex((word) => !/^(-0|-r|-n\d+|--null|--no-run-if-empty)$/.test(word));
  if (xargs[at] !== "wc") return undefined;
  const words = xargs.slice(at + 1).filter((word, i, all) => word !== "--" || i !== all.length - 1);
  return words.every((word) => COUNTS.test(word))
    ? { options: xargs.slice(0, at), words: [...words, "--"] }
    : undefined;
}

/** Programs that print names of files that are there, with options that leave it at that. */
const LISTS: readonly { starts: readonly string[]; options: RegExp; needs?: RegExp }[] = [
  { starts: ["git", "ls-files"], options: /^(-[cmoz]|--(cached|modified|others|exclude-standard)?)$/ },
  {
    starts: ["git", "diff"],
    options: /^(--(name-only|cached|staged|diff-filter=[A-Za-z]+)?)$/,
    needs: /^--name-only$/,
  },
  { starts: ["rg"], options: /^(-[liwFgt0]+|--(files|files-with-matches|hidden)?)$/, needs: /^(-[iwF]*l|--files)/ },
  {
    starts: ["grep"],
    options: /^(-[rRlinwEFZ]+|--((include|exclude|exclude-dir)=.+)?)$/,
    needs: /^-[rRinwEF]*l/,
  },
  { starts: ["ls"], options: /^-1$/ },
];
/** Programs that pass on some of the lines they are fed; with a file among their words they would print that instead. */
const PASSES_ON: Readonly<Record<string, RegExp>> = {
  grep: /^(-[vEFiwx]+ )*[^- ][^ ]*$/,
  head: /^(-n ?\d+|-\d+)?$/,
  tail: /^(-n ?\d+|-\d+)?$/,
  sort: /^(-[rnufV]+)?$/,
  uniq: /^$/,
};

/** Whether what these commands of a pipe hand on is a list of files. */
export function listsFiles(commands: readonly { name: string; words: readonly unknown[] }[]): boolean {
  const [first, ...filters] = commands.map(({ name, words }) => [name, ...words]);
  if (!first || !commands.every(({ words }) => words.every((word) => typeof word === "string"))) return false;
  const words = first as string[];
  const list = LISTS.find(({ starts }) => starts.every((word, i) => words[i] === word));
  if (!list) return false;
  const rest = words.slice(list.starts.length);
  const { options, needs } = list;
  if (!rest.every((word) => !word.startsWith("-") || options.test(word))) return false;
  // Behind `--`, or as the value of the option before it, a word is no option.
  const isOption = (i: number) => !rest.slice(0, i).includes("--") && !/^-[A-Za-z]*[gt]$/.test(rest[i - 1] ?? "");
  if (needs && !rest.some((word, i) => needs.test(word) && isOption(i))) return false;
  return filters.every(([name, ...args]) => {
    const passes = Object.hasOwn(PASSES_ON, name as string) ? PASSES_ON[name as string]! : undefined;
    return passes?.test(args.join(" ")) === true;
  });
}
