/**
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
  if (hasPlace([...find, name, ...words])) return undefined;
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
  if (!find || name === undefined || hasPlace([...find, name, ...words])) return undefined;
  return { find, program: [name, ...words], end };
}

function hasPlace(words: readonly string[]): boolean {
  return words.some((word) => word.includes("{}"));
}
