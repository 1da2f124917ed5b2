/** A document as the pieces that are remembered: paragraphs under their heading, each with its place. */
import { htmlLines } from "./html.ts";

export interface DocumentPart {
  text: string;
  /** `lines 12-18` of a text file; for a page, which of its paragraphs. */
  place: string;
}

/** A piece about this long answers a question by itself; longer ones are cut at the next line. */
const PIECE = 900;

export function markdownParts(text: string): DocumentPart[] {
  return linesToParts(text.split(/\r?\n/), "lines", (line) => /^#{1,6}\s(.*)$/.exec(line)?.[1]?.trimStart());
}

export function textParts(text: string): DocumentPart[] {
  return linesToParts(text.split(/\r?\n/), "lines", () => undefined);
}

/** One page of a PDF. */
export function pageParts(text: string, page: number): DocumentPart[] {
  return linesToParts(text.split(/\r?\n/), "lines", () => undefined).map((part) => ({
    ...part,
    place: `page ${page}, ${part.place}`,
  }));
}

/** Blocks of a page as lines, headings marked as in markdown. */
export function htmlParts(html: string): DocumentPart[] {
  const lines = htmlLines(html).map(({ text, isHeading }) => (isHeading ? `# ${text}` : text));
  return linesToParts(lines, "paragraphs", (line) => /^# (.*)$/.exec(line)?.[1]);
}

function linesToParts(
  lines: readonly string[],
  unit: string,
  readHeading: (line: string) => string | undefined,
): DocumentPart[] {
  const parts: DocumentPart[] = [];
  let heading = "";
  let held: string[] = [];
  let size = 0;
  let from = 0;
  const flush = (to: number) => {
    const body = held.join("\n").trim();
    // Empty lines at the end are no part of the place.
    const last = to - (held.length - 1 - held.findLastIndex((line) => line.trim() !== ""));
    held = [];
    size = 0;
    if (body === "") return;
    const text = heading && !body.startsWith(heading) ? `${heading}\n${body}` : body;
    parts.push({ text, place: `${unit} ${from + 1}-${Math.max(last, from + 1)}` });
  };
  lines.forEach((line, n) => {
    const found = readHeading(line);
    const isGap = line.trim() === "" && size > PIECE / 3;
    if (found !== undefined || isGap || size + line.length > PIECE) {
      flush(n);
      from = n;
    }
    if (found !== undefined) heading = found.trim();
    if (held.length === 0 && line.trim() === "") from = n + 1;
    else {
      held.push(found ?? line);
      size += held.at(-1)!.length;
    }
  });
  flush(lines.length);
  return parts;
}
