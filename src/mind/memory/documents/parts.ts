/** A document as the pieces that are remembered: paragraphs under their heading, each with its place. */

export interface Part {
  text: string;
  /** `lines 12-18` of a text file; for a page, which of its paragraphs. */
  place: string;
}

/** A piece about this long answers a question by itself; longer ones are cut at the next line. */
const PIECE = 900;

export function markdownParts(text: string): Part[] {
  return linesToParts(text.split(/\r?\n/), "lines", (line) => /^#{1,6}\s(.*)$/.exec(line)?.[1]?.trimStart());
}

export function textParts(text: string): Part[] {
  return linesToParts(text.split(/\r?\n/), "lines", () => undefined);
}

/** One page of a PDF. */
export function pageParts(text: string, page: number): Part[] {
  return linesToParts(text.split(/\r?\n/), "lines", () => undefined).map((part) => ({
    ...part,
    place: `page ${page}, ${part.place}`,
  }));
}

/** Blocks of a page as lines, headings marked as in markdown. Scripts, styles and what is hidden are no text. */
export async function htmlParts(html: string): Promise<Part[]> {
  const { parseHTML } = await import("linkedom");
  const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
  for (const node of document.querySelectorAll("script, style, noscript, template, svg, nav, [hidden]")) node.remove();
  const lines: string[] = [];
  for (const node of document.querySelectorAll(
    "h1, h2, h3, h4, h5, h6, p, li, td, th, pre, blockquote, dt, dd, figcaption",
  )) {
    const line = (node.textContent ?? "").replace(/\s+/g, " ").trim();
    if (line === "" || node.querySelector("p, li, td")) continue;
    lines.push(/^h\d$/i.test(node.tagName) ? `# ${line}` : line);
  }
  if (lines.length === 0) lines.push((document.body?.textContent ?? "").replace(/\s+/g, " ").trim());
  return linesToParts(lines, "paragraphs", (line) => /^# (.*)$/.exec(line)?.[1]);
}

function linesToParts(lines: readonly string[], unit: string, headingOf: (line: string) => string | undefined): Part[] {
  const parts: Part[] = [];
  let heading = "";
  let held: string[] = [];
  let from = 0;
  const flush = (to: number) => {
    const body = held.join("\n").trim();
    // Empty lines at the end are no part of the place.
    const last = to - (held.length - 1 - held.findLastIndex((line) => line.trim() !== ""));
    held = [];
    if (body === "") return;
    const text = heading && !body.startsWith(heading) ? `${heading}\n${body}` : body;
    parts.push({ text, place: `${unit} ${from + 1}-${Math.max(last, from + 1)}` });
  };
  lines.forEach((line, n) => {
    const found = headingOf(line);
    const size = held.reduce((sum, held) => sum + held.length, 0);
    const isGap = line.trim() === "" && size > PIECE / 3;
    if (found !== undefined || isGap || size + line.length > PIECE) {
      flush(n);
      from = n;
    }
    if (found !== undefined) heading = found.trim();
    if (held.length === 0 && line.trim() === "") from = n + 1;
    else held.push(found ?? line);
  });
  flush(lines.length);
  return parts;
}
