/**
 * Where the old text stands in a file, as pure functions. First exactly; when that finds nothing, line by line without
 * regard to line ends and trailing blanks, which is what models most often get wrong. Anything else is a failure that
 * says what is nearest.
 */
import { trimEndOf } from "../../../core/kit/index.ts";
import { LineIndex } from "./line-index.ts";

export interface Replaced {
  text: string;
  /** Line of each replacement, from 1. */
  lines: number[];
  /** How it was matched, when not exactly; a sentence for the model. */
  note?: string;
}

export type Match = ({ ok: true } & Replaced) | { ok: false; count: number; lines: number[]; nearest: string | null };

export function replaceIn(text: string, old: string, fresh: string, all: boolean): Match {
  const exact = positions(text, old);
  if (exact.length === 1 || (all && exact.length > 0)) return { ok: true, ...splice(text, exact, old, fresh) };
  if (exact.length > 1) return { ok: false, count: exact.length, lines: linesAt(text, exact), nearest: null };
  const loose = looseMatches(text, old);
  if (loose.length === 1 || (all && loose.length > 0)) return { ok: true, ...spliceLoose(text, loose, old, fresh) };
  return { ok: false, count: loose.length, lines: loose.map((m) => m.line), nearest: nearestLines(text, old) };
}

/** Start of each occurrence, not overlapping. */
export function positions(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0 && part !== ""; at = text.indexOf(part, at + part.length)) found.push(at);
  return found;
}

function splice(text: string, at: readonly number[], old: string, fresh: string): Replaced {
  const put = usesOnlyCrlf(text) ? withCrlf(fresh) : fresh;
  let result = "";
  let from = 0;
  for (const start of at) {
    result += text.slice(from, start) + put;
    from = start + old.length;
  }
  return {
    text: result + text.slice(from),
    lines: linesAt(text, at),
    ...(put === fresh ? {} : { note: "The new text got the file's CRLF line ends." }),
  };
}

interface Loose {
  start: number;
  /** End of the last line without its line end, and with it. */
  end: number;
  endWithBreak: number;
  line: number;
}

function looseMatches(text: string, old: string): Loose[] {
  const wanted = trimEnds(old.endsWith("\n") ? old.slice(0, -1) : old);
  if (wanted.every((line) => line === "")) return [];
  const lines = text.split("\n");
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  const bare = lines.map((line) => trimEndOf(line, " \t\r"));
  const found: Loose[] = [];
  let next = 0;
  for (const i of new LineIndex(bare).places(wanted, 0)) {
    // Two that overlap are one place.
    if (i < next) continue;
    const last = i + wanted.length - 1;
    const lastLine = lines[last]!;
    const end = starts[last]! + lastLine.length - (lastLine.endsWith("\r") ? 1 : 0);
    const endWithBreak = Math.min(starts[last]! + lastLine.length + 1, text.length);
    found.push({ start: starts[i]!, end, endWithBreak, line: i + 1 });
    next = last + 1;
  }
  return found;
}

function spliceLoose(text: string, at: readonly Loose[], old: string, fresh: string): Replaced {
  const bothEnd = old.endsWith("\n") && fresh.endsWith("\n");
  const takesBreak = old.endsWith("\n") && !bothEnd;
  const body = bothEnd ? fresh.slice(0, -1) : fresh;
  const put = usesOnlyCrlf(text) ? withCrlf(body) : body;
  let result = "";
  let from = 0;
  for (const match of at) {
    result += text.slice(from, match.start) + put;
    from = takesBreak ? match.endWithBreak : match.end;
  }
  return {
    text: result + text.slice(from),
    lines: at.map((match) => match.line),
    note: "The old text was found only without regard to line ends and trailing blanks; those lines were replaced.",
  };
}

/** The lines most like the old text's first line, with their numbers; null when nothing is alike. */
export function nearestLines(text: string, old: string): string | null {
  const wanted = old
    .split("\n")
    .find((line) => line.trim() !== "")
    ?.trim();
  if (!wanted) return null;
  const lines = text.split("\n", MOST_COMPARED);
  const goal = pairs(wanted);
  let best = -1;
  let score = 0.4; // Below that the lines have little in common and would only mislead.
  let letters = 0;
  for (const [i, line] of lines.entries()) {
    letters += Math.min(line.length, LONGEST_LINE);
    if (letters > MOST_LETTERS) break;
    const s = alike(goal, pairs(line.trim()));
    if (s > score) {
      best = i;
      score = s;
    }
  }
  if (best < 0) return null;
  const count = Math.min(old.split("\n").length, 6);
  return lines
    .slice(best, best + count)
    .map((line, k) => `${best + k + 1}: ${line.slice(0, 300)}`)
    .join("\n");
}

/** Lines, and letters of them: a fraction of a second. */
const MOST_COMPARED = 20_000;
const MOST_LETTERS = 400_000;

/** What is compared of one line. */
const LONGEST_LINE = 300;

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

function trimEnds(text: string): string[] {
  return text.split("\n").map((line) => trimEndOf(line, " \t\r"));
}

/** The line of each place, from 1. The places rise, so the text is walked once. */
function linesAt(text: string, places: readonly number[]): number[] {
  let line = 1;
  let end = text.indexOf("\n");
  return places.map((at) => {
    for (; end >= 0 && end < at; end = text.indexOf("\n", end + 1)) line++;
    return line;
  });
}

function usesOnlyCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
}

function withCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}
