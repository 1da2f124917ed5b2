/**
 * The new text in the file's own indentation, where the old text differed from the file in white space only: tabs for blanks,
 * a level more or less. Lines that stay as they were keep the file's bytes.
 */
import { readIndent } from "./nearest.ts";

/** Undefined when the file's indentation does not follow from that of the old text: then nothing is guessed. */
export function inFilesIndentation(
  old: readonly string[],
  found: readonly string[],
  fresh: readonly string[],
): string[] | undefined {
  const indents = new Map<string, string>();
  const same = new Map<string, string[]>();
  for (const [i, line] of old.entries()) {
    if (line.trim() === "") continue;
    const theirs = readIndent(found[i]!);
    const known = indents.get(readIndent(line));
    if (known !== undefined && known !== theirs) return undefined;
    indents.set(readIndent(line), theirs);
    const kept = same.get(line) ?? [];
    if (kept.length < MOST_SAME) kept.push(found[i]!);
    same.set(line, kept);
  }
  const translate = translator(indents);
  const lines: string[] = [];
  for (const line of fresh) {
    const kept = same.get(line)?.shift();
    if (kept !== undefined || line.trim() === "") {
      lines.push(kept ?? "");
      continue;
    }
    const indent = readIndent(line);
    const theirs = translate(indent);
    if (theirs === undefined) return undefined;
    lines.push(theirs + line.slice(indent.length));
  }
  return lines;
}

/** How many occurrences of one repeated line are recorded. */
const MOST_SAME = 50;

type Translate = (indent: string) => string | undefined;

function translator(indents: ReadonlyMap<string, string>): Translate {
  const pairs = [...indents];
  const known: Translate = (indent) => indents.get(indent);
  const rule = shifted(pairs) ?? scaled(pairs);
  return (indent) => known(indent) ?? rule?.(indent);
}

/** The whole piece stands further in, or further out. */
function shifted(pairs: readonly (readonly [string, string])[]): Translate | undefined {
  const [mine, theirs] = pairs[0] ?? ["", ""];
  if (theirs.endsWith(mine)) {
    const more = theirs.slice(0, theirs.length - mine.length);
    if (pairs.every(([a, b]) => b === more + a) && isOneKind(pairs)) return (indent) => more + indent;
  }
  if (mine.endsWith(theirs)) {
    const less = mine.slice(0, mine.length - theirs.length);
    if (pairs.every(([a, b]) => a === less + b) && isOneKind(pairs))
      return (indent) => (indent.startsWith(less) ? indent.slice(less.length) : undefined);
  }
  return undefined;
}

/** Each level is written otherwise: a tab for four blanks. */
function scaled(pairs: readonly (readonly [string, string])[]): Translate | undefined {
  const deep = pairs.find(([a]) => a !== "");
  if (!deep) return undefined;
  const [mine, theirs] = deep;
  const [from, to] = [mine[0]!, theirs[0] ?? ""];
  if (to === "" || !isAll(mine, from) || !isAll(theirs, to)) return undefined;
  const convert: Translate = (indent) => {
    const length = (indent.length * theirs.length) / mine.length;
    return isAll(indent, from) && Number.isInteger(length) ? to.repeat(length) : undefined;
  };
  return pairs.every(([a, b]) => convert(a) === b) ? convert : undefined;
}

function isAll(indent: string, sign: string): boolean {
  for (const one of indent) if (one !== sign) return false;
  return true;
}

function isOneKind(pairs: readonly (readonly [string, string])[]): boolean {
  const all = pairs.map(([a, b]) => a + b).join("");
  return all === "" || isAll(all, all[0]!);
}
