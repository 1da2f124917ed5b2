/**
 * Where the old text stands in a file, as pure functions. First exactly; when that finds nothing, line by line without
 * regard to line ends and trailing blanks, then to any white space, which is what models most often get wrong. Anything else is
 * a failure that says what is nearest.
 */
import { trimEndCharacters } from "../../../core/kit/index.ts";
import { inFilesIndentation } from "./drift.ts";
import { LineIndex } from "./line-index.ts";
import { type Nearest, nearest, spaced } from "./nearest.ts";

export interface Replaced {
  text: string;
  /** Line of each replacement, from 1. */
  lines: number[];
  /** How it was matched, when not exactly; a sentence for the model. */
  note?: string;
  /** What was put there, where it is not the new text as it was given. */
  put?: string;
  /** Of a single replacement: whether the file has more on its first line before it, and on its last line behind it. */
  within?: { before: boolean; behind: boolean };
}

export type TextMatch =
  | ({ ok: true } & Replaced)
  | {
      ok: false;
      count: number;
      lines: number[];
      nearest: Nearest | undefined;
      /** Lines where it would fit but for white space: several, or one whose indentation does not tell how to write the new text. */
      drifted: number[];
    };

export function replaceIn(text: string, old: string, fresh: string, all: boolean): TextMatch {
  const exact = positions(text, old);
  if (exact.length === 1 || (all && exact.length > 0)) return { ok: true, ...splice(text, exact, old, fresh) };
  const refused = { ok: false as const, nearest: undefined, drifted: [] };
  if (exact.length > 1) return { ...refused, count: exact.length, lines: linesAt(text, exact) };
  const loose = looseMatches(text, old, withoutEnd);
  if (loose.length === 1 || (all && loose.length > 0))
    return { ok: true, ...spliceLoose(text, loose, old, fresh), note: LOOSELY };
  if (loose.length > 1) return { ...refused, count: loose.length, lines: loose.map((m) => m.line) };
  const drifted = looseMatches(text, old, spaced);
  const put = drifted.length === 1 ? adapted(text, drifted[0]!, old, fresh) : undefined;
  if (put !== undefined) return { ok: true, ...spliceLoose(text, drifted, old, put), note: BY_WORDS, put };
  return { ...refused, count: 0, lines: [], nearest: nearest(text, old), drifted: drifted.map((m) => m.line) };
}

const LOOSELY =
  "The old text matched only when line endings and trailing spaces were ignored; those lines were replaced.";
const BY_WORDS =
  "The old text differed from the file in white space only; those lines were replaced, and the new text was given the file's indentation.";

/** Whether a text stands in a file, whatever its white space. */
export function standsLoosely(text: string, part: string): boolean {
  return looseMatches(text, part, spaced).length > 0;
}

function adapted(text: string, { start, end }: Loose, old: string, fresh: string): string | undefined {
  const found = splitLines(text.slice(start, end));
  const [was, put] = [splitLines(old), splitLines(fresh)].map((lines) =>
    lines.at(-1) === "" ? lines.slice(0, -1) : lines,
  );
  const lines = inFilesIndentation(was!, found, put!);
  return lines && lines.join("\n") + (fresh.endsWith("\n") ? "\n" : "");
}

function splitLines(text: string): string[] {
  return text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
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
    within: {
      before: at[0]! > 0 && text[at[0]! - 1] !== "\n",
      behind: from < text.length && !fresh.endsWith("\n") && !/^\r?\n/.test(text.slice(from, from + 2)),
    },
    ...(put === fresh ? {} : { note: "The new text was given the file's CRLF line endings." }),
  };
}

/** Lines of a file that is also looked through without regard to its white space: far more than people write. */
const MOST_DRIFTED = 50_000;

interface Loose {
  start: number;
  /** End of the last line without its line end, and with it. */
  end: number;
  endWithBreak: number;
  line: number;
}

function looseMatches(text: string, old: string, plain: (line: string) => string): Loose[] {
  const wanted = (old.endsWith("\n") ? old.slice(0, -1) : old).split("\n").map(plain);
  if (wanted.every((line) => line === "")) return [];
  const lines = text.split("\n");
  if (plain === spaced && lines.length > MOST_DRIFTED) return [];
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  const bare = lines.map(plain);
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
  };
}

function withoutEnd(line: string): string {
  return trimEndCharacters(line, " \t\r");
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
