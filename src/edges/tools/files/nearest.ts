/**
 * The lines of a file that are most like a text that was not found in it, and what differs: the model reads both and can do it
 * right the next time. Linear in the file, and bounded: either text may be made to be slow.
 */

export interface Nearest {
  /** Number of the first line shown, from 1. */
  line: number;
  /** The lines with their numbers, tabs made visible. */
  shown: string;
  /** What differs, in words; at most two places. */
  differs: string[];
}

/** Lines, and letters of them: a fraction of a second. */
const MOST_COMPARED = 20_000;
const MOST_LETTERS = 400_000;
/** What is compared and shown of one line. */
const LONGEST_LINE = 300;
const MOST_SHOWN = 6;
const MOST_REASONS = 2;
/** Below that the lines have little in common and would only mislead. */
const LEAST_ALIKE = 0.4;
const NOTHING: ReadonlySet<string> = new Set();

/** Undefined when nothing is alike. */
export function nearest(text: string, old: string): Nearest | undefined {
  const wanted = old.split("\n", MOST_COMPARED);
  const first = wanted.findIndex((line) => line.trim() !== "");
  if (first < 0) return undefined;
  const lines = text.split("\n", MOST_COMPARED);
  const sought = wanted.slice(first, first + MOST_SHOWN);
  const at = mostAlike(lines, sought);
  if (at < 0) return undefined;
  const found = lines.slice(at, at + sought.length);
  return { line: at + 1, shown: numbered(found, at + 1), differs: differences(sought, found, at + 1) };
}

/** For the end of a message: the nearest lines and what differs, or that there are none. */
export function nearestWords(near: Nearest | undefined): string {
  if (!near) return " No line of the file resembles it.";
  const tab = near.shown.includes("→") ? "\n(→ stands for a tab.)" : "";
  const differs = near.differs.length ? `\nWhat differs: ${near.differs.join("; ")}.` : "";
  return ` The nearest lines are:\n${near.shown}${tab}${differs}`;
}

/** Lines as they stand, each with its number. */
export function numbered(lines: readonly string[], first: number): string {
  const plain = (line: string) => line.slice(0, LONGEST_LINE).replaceAll("\t", "→").replaceAll("\r", "");
  return lines.map((line, i) => `${first + i}: ${plain(line)}`).join("\n");
}

/** Where the first of the lines sought has its like; of several such places the one whose next lines are like the others. */
function mostAlike(lines: readonly string[], sought: readonly string[]): number {
  const [goal, ...rest] = sought.map(pairsIn);
  const there: ReadonlySet<string>[] = [];
  let letters = 0;
  for (const line of lines) {
    letters += Math.min(line.length, LONGEST_LINE);
    if (letters > MOST_LETTERS) break;
    there.push(pairsIn(line));
  }
  let best = -1;
  let score = 0;
  for (const [i, pairs] of there.entries()) {
    const own = alike(goal!, pairs);
    if (own <= LEAST_ALIKE) continue;
    const next = rest.reduce((sum, line, k) => sum + alike(line, there[i + 1 + k] ?? NOTHING), 0);
    const all = own + next / Math.max(1, rest.length);
    if (all > score) {
      best = i;
      score = all;
    }
  }
  return best;
}

function pairsIn(line: string): Set<string> {
  return pairs(line.slice(0, 4 * LONGEST_LINE).trim());
}

/** Dice coefficient over pairs of letters: cheap, and kind to small changes anywhere in the line. */
function alike(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size + b.size === 0) return 0;
  let same = 0;
  for (const pair of a) if (b.has(pair)) same++;
  return (2 * same) / (a.size + b.size);
}

function pairs(line: string): Set<string> {
  const set = new Set<string>();
  const most = Math.min(line.length, LONGEST_LINE);
  for (let i = 0; i + 1 < most; i++) set.add(line.slice(i, i + 2));
  if (line.length === 1) set.add(line);
  return set;
}

function differences(sought: readonly string[], found: readonly string[], first: number): string[] {
  const all: string[] = [];
  for (const [i, mine] of sought.entries()) {
    const theirs = found[i];
    if (theirs === undefined) {
      all.push(`the file ends after line ${first + i - 1}`);
      break;
    }
    const why = difference(mine.slice(0, LONGEST_LINE), theirs.slice(0, LONGEST_LINE), first + i);
    if (why) all.push(why);
    if (all.length === MOST_REASONS) break;
  }
  return all;
}

/** Why two lines are not the same; undefined when they are. */
function difference(mine: string, theirs: string, line: number): string | undefined {
  const [a, b] = [withoutReturn(mine), withoutReturn(theirs)];
  if (a === b) return undefined;
  if (a.trimEnd() === b.trimEnd()) return `line ${line} has different spaces at its end`;
  if (a.trim() === b.trim())
    return `the indentation of line ${line}: ${blanks(b)} in the file, ${blanks(a)} in your text`;
  if (spaced(a) === spaced(b)) return `the spaces inside line ${line}`;
  if (plainQuotes(a) === plainQuotes(b)) return `the quotation marks or dashes of line ${line}: copy those of the file`;
  if (a.toLowerCase() === b.toLowerCase()) return `upper and lower case in line ${line}`;
  if (a.replace(/^\s{0,8}\d{1,7}[:|\t] ?/, "").trim() === b.trim())
    return "your text has line numbers, which are not in the file";
  return firstDifference(a, b, line);
}

function firstDifference(a: string, b: string, line: number): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const part = (text: string) => (at < text.length ? `"${text.slice(at, at + 20)}"` : "nothing more");
  return `line ${line} from column ${at + 1}: ${part(b)} in the file, ${part(a)} in your text`;
}

function blanks(line: string): string {
  const indent = readIndent(line);
  if (indent === "") return "none";
  const tabs = indent.split("\t").length - 1;
  const spaces = indent.length - tabs;
  const words = [counted(tabs, "tab"), counted(spaces, "space")];
  return words.filter(Boolean).join(" and ");
}

function counted(n: number, noun: string): string {
  return n === 0 ? "" : `${n} ${noun}${n === 1 ? "" : "s"}`;
}

export function readIndent(line: string): string {
  let end = 0;
  while (line[end] === " " || line[end] === "\t") end++;
  return line.slice(0, end);
}

/** The same line whatever white space it has where it has some. */
export function spaced(line: string): string {
  const plain = line.trim();
  return /[^\S ]| {2}/.test(plain) ? plain.replace(/\s+/g, " ") : plain;
}

function plainQuotes(line: string): string {
  return line
    .trim()
    .replace(/[\u2018\u2019\u201a\u201b\u2032`]/g, "'")
    .replace(/[\u201c\u201d\u201e\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/\u2026/g, "...");
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
