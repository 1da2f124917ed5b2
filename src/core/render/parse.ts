/**
 * Markdown → tree: CommonMark's blocks with GitHub's tables and task lists, read the way a chat answer is meant. A line end is
 * a line end; an answer that stops in the middle (streaming) gives what is there; deeper than any person nests is plain text.
 * HTML is text. No indented code: models indent what they do not mean as code.
 */
import { parseInline } from "./inline.ts";
import { type Align, type Block, type Cell, clean, type ListItem, type Tree } from "./tree.ts";

/** Quotes and lists inside each other; far above what people write, low enough for every stack and platform. */
const DEEPEST = 8;
const MOST_COLUMNS = 50;

const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const HEADING = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const QUOTE = /^ {0,3}> ?/;
const MARKER = /^( *)([-*+•]|\d{1,9}[.)])( +|$)/;
const TASK = /^\[([ xX])\][ \t]+/;

export function parse(markdown: string): Tree {
  return { blocks: parseBlocks(toLines(markdown), 0) };
}

/** The tree, and the number of the line on which each of its blocks starts. */
export function parseWithStarts(markdown: string): Tree & { starts: readonly number[] } {
  const starts: number[] = [];
  return { blocks: parseBlocks(toLines(markdown), 0, starts), starts };
}

function toLines(markdown: string): string[] {
  return clean(markdown)
    .split("\n")
    .map((line) => line.replace(/^[ \t]+/, (blank) => blank.replaceAll("\t", "    ")));
}

function parseBlocks(lines: readonly string[], depth: number, starts?: number[]): Block[] {
  const blocks: Block[] = [];
  let i = 0;
  while (i < lines.length) {
    const line = lines[i]!;
    if (line.trim() === "") {
      i++;
      continue;
    }
    starts?.push(i);
    const fence = fenceAt(line);
    if (fence) {
      const end = fenceEnd(lines, i, fence.signs);
      blocks.push(fenceBlock(lines.slice(i, end), fence.info, end < lines.length));
      i = end + 1;
      continue;
    }
    const heading = HEADING.exec(line);
    if (heading) {
      const words = line.slice(heading[0].length).trim();
      blocks.push({ kind: "heading", level: heading[1]!.length, inlines: parseInline(withoutTail(words)) });
      i++;
      continue;
    }
    if (RULE.test(line)) {
      blocks.push({ kind: "rule" });
      i++;
      continue;
    }
    if (QUOTE.test(line) && depth < DEEPEST) {
      const from = i;
      while (i < lines.length && QUOTE.test(lines[i]!)) i++;
      const inner = lines.slice(from, i).map((quoted) => quoted.replace(QUOTE, ""));
      blocks.push({ kind: "quote", blocks: parseBlocks(inner, depth + 1) });
      continue;
    }
    if (MARKER.test(line) && depth < DEEPEST) {
      const list = parseList(lines, i, depth);
      blocks.push(list.block);
      i = list.end;
      continue;
    }
    const table = parseTable(lines, i);
    if (table) {
      blocks.push(table.block);
      i = table.end;
      continue;
    }
    const from = i++;
    while (i < lines.length && !startsBlock(lines, i, depth)) i++;
    blocks.push({ kind: "paragraph", inlines: parseInline(words(lines.slice(from, i))) });
    if (/^ {0,3}=+\s*$/.test(lines[i - 1]!) && i - from > 1) {
      blocks.pop();
      blocks.push({ kind: "heading", level: 1, inlines: parseInline(words(lines.slice(from, i - 1))) });
    }
  }
  return blocks;
}

function words(lines: readonly string[]): string {
  return lines.map((line) => line.trim()).join("\n");
}

function startsBlock(lines: readonly string[], at: number, depth: number): boolean {
  const line = lines[at]!;
  if (line.trim() === "" || fenceAt(line) || HEADING.test(line) || RULE.test(line)) return true;
  if (depth < DEEPEST && (QUOTE.test(line) || MARKER.test(line))) return true;
  return tableHead(lines, at) !== undefined;
}

/** The line of the closing fence, or the end of the text: a fence nobody closed runs to the end. */
function fenceEnd(lines: readonly string[], open: number, fence: string): number {
  for (let i = open + 1; i < lines.length; i++) {
    const line = lines[i]!.trim();
    if (line.length >= fence.length && line === fence[0]!.repeat(line.length)) return i;
  }
  return lines.length;
}

function fenceBlock(lines: readonly string[], info: string, closed: boolean): Block {
  const indent = /^ */.exec(lines[0]!)![0].length;
  const text = lines.slice(1).map((line) => line.slice(Math.min(indent, /^ */.exec(line)![0].length)));
  // A language is a short word; anything else would be a way to write into an attribute or a fence line.
  return {
    kind: "fence",
    lang: /^[\w+.#-]{1,30}$/.test(info) ? info : "",
    text: (closed ? text : withoutEmptyEnd(text)).join("\n"),
  };
}

function withoutEmptyEnd(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
}

/** `# Title ##` → `Title`. */
function withoutTail(text: string): string {
  let end = text.length;
  while (text[end - 1] === "#") end--;
  return end === 0 || /\s/.test(text[end - 1]!) ? text.slice(0, end).trimEnd() : text;
}

function parseList(lines: readonly string[], from: number, depth: number): { block: Block; end: number } {
  const first = MARKER.exec(lines[from]!)!;
  const base = first[1]!.length;
  const ordered = /\d/.test(first[2]!);
  const items: ListItem[] = [];
  let i = from;
  while (i < lines.length) {
    const marker = MARKER.exec(lines[i]!);
    if (!marker || /\d/.test(marker[2]!) !== ordered || marker[1]!.length >= base + 2 || RULE.test(lines[i]!)) break;
    const [whole, indent = "", sign = "", blank = ""] = marker;
    // Models indent what is inside by two, whatever the marker's width.
    const inside = indent.length + Math.min(sign.length + Math.max(Math.min(blank.length, 4), 1), 2);
    const content = indent.length + sign.length + 1;
    const own = [lines[i]!.slice(whole.length)];
    let open = readFence(own[0]!);
    let gap = false;
    for (i++; i < lines.length; i++) {
      const line = lines[i]!;
      const isBlank = line.trim() === "";
      const lineDepth = /^ */.exec(line)![0].length;
      // A line of the paragraph that was not indented still belongs to it, unless something new begins.
      if (!isBlank && !open && lineDepth < inside && (gap || startsBlock(lines, i, depth))) break;
      gap = isBlank;
      own.push(line.slice(Math.min(lineDepth, content)));
      const fence = readFence(own.at(-1)!);
      if (open ? fence?.startsWith(open) : fence) open = open ? undefined : fence;
    }
    items.push(parseItem(own, depth));
  }
  const loose = items.some((item) => item.blocks.filter((block) => block.kind === "paragraph").length > 1);
  const start = ordered ? Number.parseInt(first[2]!, 10) : 1;
  return { block: { kind: "list", ordered, start, loose, items }, end: i };
}

function readFence(line: string): string | undefined {
  return fenceAt(line)?.signs;
}

/** The line of the code fence that is still open where this text ends. */
export function openFence(markdown: string): string | undefined {
  let open: { signs: string; line: string } | undefined;
  for (const line of markdown.split("\n")) {
    const fence = fenceAt(line);
    if (!fence) continue;
    if (!open) open = { signs: fence.signs, line };
    else if (fence.signs.startsWith(open.signs) && fence.info === "") open = undefined;
  }
  return open?.line;
}

/** A line that opens or closes a fence: its characters, and the first word behind them. */
function fenceAt(line: string): { signs: string; info: string } | undefined {
  const signs = /^ {0,3}(`{3,}|~{3,})/.exec(line);
  if (!signs) return undefined;
  const rest = line.slice(signs[0].length);
  if (rest.includes("`")) return undefined;
  return { signs: signs[1]!, info: /^\S*/.exec(rest.trimStart())![0] };
}

function parseItem(lines: readonly string[], depth: number): ListItem {
  const task = TASK.exec(lines[0]!);
  if (!task) return { blocks: parseBlocks(lines, depth + 1) };
  const blocks = parseBlocks([lines[0]!.slice(task[0].length), ...lines.slice(1)], depth + 1);
  return { task: task[1] !== " ", blocks };
}

function parseTable(lines: readonly string[], from: number): { block: Block; end: number } | undefined {
  const found = tableHead(lines, from);
  if (!found) return undefined;
  const align = found.marks.map((mark): Align => {
    if (!mark.endsWith(":")) return "left";
    return mark.startsWith(":") ? "center" : "right";
  });
  const rows: Cell[][] = [];
  let i = from + 2;
  for (; i < lines.length && lines[i]!.includes("|"); i++) {
    const row = cells(lines[i]!);
    rows.push(align.map((_, column) => parseInline(row[column] ?? "")));
  }
  return { block: { kind: "table", align, head: found.names.map((name) => parseInline(name)), rows }, end: i };
}

function tableHead(lines: readonly string[], at: number): { names: string[]; marks: string[] } | undefined {
  const head = lines[at]!;
  const rule = lines[at + 1];
  if (!rule?.includes("-") || !head.includes("|") || !/^[\s|:-]+$/.test(rule)) return undefined;
  const marks = cells(rule);
  const names = cells(head);
  if (marks.length !== names.length || names.length > MOST_COLUMNS) return undefined;
  return marks.every((mark) => /^:?-+:?$/.test(mark)) ? { names, marks } : undefined;
}

/** The cells of a row; `\|` is a bar of the cell. */
function cells(line: string): string[] {
  const found: string[] = [];
  let cell = "";
  const row = line.trim();
  for (let i = row.startsWith("|") ? 1 : 0; i < row.length; i++) {
    if (row[i] === "\\" && row[i + 1] === "|") {
      cell += "|";
      i++;
    } else if (row[i] === "|") {
      found.push(cell.trim());
      cell = "";
    } else cell += row[i];
  }
  if (cell.trim() !== "" || !row.endsWith("|")) found.push(cell.trim());
  return found;
}
