/**
 * The tree as one platform can show it: tables it has not become aligned code or lists, pictures become links, and a link
 * stays a link only if it is honest. After this every node can be written by the dialect as it stands.
 *
 * RENDER-6: a link that names one place and leads to another is written as words with its target beside them.
 * RENDER-7: only http, https and mailto are targets; the rest is words.
 */

import { assertNever } from "../domain/index.ts";
import type { Dialect } from "./dialect.ts";
import { type Block, type Cell, clean, type Inline, type ListItem, plainText, STRONG, type Tree } from "./tree.ts";

/** What the platform can show. Every dialect answers this, and so does the web page, which writes no dialect. */
export interface Abilities extends Pick<Dialect, "quotesNest" | "tableWidth" | "calls"> {
  table?: unknown;
  link?: unknown;
  mention?: { id: RegExp };
}

export interface Lowering {
  dialect: Abilities;
  /** Ids that may be called. Nobody without it. */
  mentions?: ReadonlySet<string>;
  /** False: this block is too long for one message as it stands, so it has to become something that can be cut. */
  fits(block: Block): boolean;
}

export function lower(tree: Tree, how: Lowering): Tree {
  return { blocks: lowerBlocks(tree.blocks, how) };
}

function lowerBlocks(blocks: readonly Block[], how: Lowering): Block[] {
  return blocks.flatMap((block) => lowerBlock(block, how));
}

function lowerBlock(block: Block, how: Lowering): Block[] {
  switch (block.kind) {
    case "paragraph":
    case "heading":
      return [{ ...block, inlines: lowerInlines(block.inlines, how) }];
    case "list":
      return [{ ...block, items: block.items.map((item) => ({ ...item, blocks: lowerBlocks(item.blocks, how) })) }];
    case "quote": {
      const inner = lowerBlocks(block.blocks, how);
      return how.dialect.quotesNest ? [{ kind: "quote", blocks: inner }] : flatQuotes(inner);
    }
    case "table":
      return lowerTable(block, how);
    case "fence":
    case "rule":
      return [block];
    default:
      return assertNever(block);
  }
}

/** Code stands outside of the quote, which goes on behind it; a quote in the quote is part of it. */
function flatQuotes(blocks: readonly Block[]): Block[] {
  const result: Block[] = [];
  for (const block of blocks.flatMap((inner) => (inner.kind === "quote" ? inner.blocks : [inner]))) {
    const last = result.at(-1);
    if (hasCode(block)) result.push(block);
    else if (last?.kind === "quote") result[result.length - 1] = { kind: "quote", blocks: [...last.blocks, block] };
    else result.push({ kind: "quote", blocks: [block] });
  }
  return result;
}

function hasCode(block: Block): boolean {
  if (block.kind === "list")
    return block.items.some((item) => item.blocks.some((b) => hasCode(b) || b.kind === "quote"));
  return block.kind === "fence";
}

// ── links ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const isPlain = ({ kind }: Inline): boolean => kind === "text" || kind === "code" || kind === "break";

function lowerInlines(inlines: readonly Inline[], how: Lowering): readonly Inline[] {
  // Most text has no links, and a long answer has thousands of spans.
  if (inlines.every(isPlain)) return inlines;
  return inlines.flatMap((span): Inline[] => {
    switch (span.kind) {
      case "mention":
        if (how.dialect.mention?.id.test(span.id) && how.mentions?.has(span.id)) return [span];
        return [{ kind: "text", text: span.label, marks: span.marks }];
      case "image": {
        const label: Inline[] = [{ kind: "text", text: span.alt.trim() || "image", marks: 0 }];
        return lowerLink({ kind: "link", url: span.url, label, marks: span.marks }, how);
      }
      case "link":
        return lowerLink(span, how);
      case "text":
      case "code":
      case "break":
        return [span];
      default:
        return assertNever(span);
    }
  });
}

function lowerLink(span: Extract<Inline, { kind: "link" }>, how: Lowering): Inline[] {
  const label = plainText(span.label).trim();
  const url = safeTarget(span.url, how.dialect);
  const marked = span.label.map((word): Inline => ({ ...word, marks: word.marks | span.marks }));
  if (!url) {
    const shown = /^(data|javascript|vbscript):/i.test(span.url.trim()) || label === span.url ? "" : span.url.trim();
    return shown ? [...marked, text(` (${shown})`, span.marks)] : marked;
  }
  const alone: Inline = { kind: "link", url, label: [text(url.replace(/^mailto:/i, ""), 0)], marks: span.marks };
  const isShown = label === "" || label === span.url || `mailto:${label}` === url;
  const kept = isShown || span.label.length === 0 ? alone : { ...span, url };
  // Too long to stand in one message with its target: words that can be cut.
  const tooLong = !how.fits({ kind: "paragraph", inlines: [kept] });
  if (isShown) return [tooLong ? text(url, span.marks) : alone];
  if (tooLong) return [...marked, text(` (${url})`, span.marks)];
  if (how.dialect.link && !leadsElsewhere(label, url)) return [kept];
  return [...marked, text(" (", span.marks), alone, text(")", span.marks)];
}

const text = (words: string, marks: number): Inline => ({ kind: "text", text: words, marks });

function safeTarget(raw: string, dialect: Abilities): string | undefined {
  const url = clean(raw).trim();
  if (!/^(https?:\/\/|mailto:)[^\s]+$/i.test(url) || dialect.calls?.test(url) || !URL.canParse(url)) return undefined;
  return url.replace(/[\s<>"`|\\^{}]/g, (sign) => encodeURIComponent(sign));
}

/** Names of files are everywhere in answers and look like hosts. */
const FILE =
  /\.(md|ts|tsx|js|mjs|cjs|jsx|py|rs|go|sh|json|ya?ml|toml|txt|html?|css|sql|java|rb|php|c|h|cpp|svelte|lock|env|pdf|csv)$/i;

/** The words show an address whose host is not the target's, nor its parent. */
function leadsElsewhere(label: string, url: string): boolean {
  // Unseen characters would hide the address from this look, not from a person.
  const words = label.normalize("NFKC").replace(/\p{Cf}/gu, "");
  const real = new URL(url).hostname.replace(/^www\./, "") || url.replace(/^mailto:.*@/i, "").replace(/\?.*/, "");
  return words.split(/[\s()<>,;"']+/).some((word) => {
    const found = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:[^/@]*@)?((?:[\p{L}\p{N}_-]+\.)+[\p{L}][\p{L}\p{N}-]+)/iu.exec(
      word,
    );
    if (!found) return false;
    const host = found[2]!.toLowerCase().replace(/^www\./, "");
    if (!found[1] && FILE.test(word)) return false;
    return host !== real.toLowerCase() && !real.toLowerCase().endsWith(`.${host}`);
  });
}

// ── tables ──────────────────────────────────────────────────────────────────────────────────────────────────────────

function lowerTable(table: Extract<Block, { kind: "table" }>, how: Lowering): Block[] {
  const cells = (row: readonly Cell[]) => row.map((cell) => lowerInlines(cell, how));
  const lowered = { ...table, head: cells(table.head), rows: table.rows.map(cells) };
  if (how.dialect.table && how.fits(lowered)) return [lowered];
  const aligned = alignedTable(table, how.dialect.tableWidth);
  if (aligned) return [{ kind: "fence", lang: "", text: aligned.join("\n") }];
  if (table.rows.length === 0) return [{ kind: "paragraph", inlines: joined(lowered.head, " · ") }];
  const names = lowered.head.map(shortName);
  const items = lowered.rows.map((row): ListItem => ({ blocks: [{ kind: "paragraph", inlines: named(names, row) }] }));
  const list: Block = { kind: "list", ordered: false, start: 1, loose: false, items };
  const isCut = names.some((name, at) => name !== lowered.head[at]);
  return isCut ? [{ kind: "paragraph", inlines: joined(lowered.head, " · ") }, list] : [list];
}

/** A column's name stands in every row: a long one would be written a thousand times over. */
const LONGEST_NAME = 80;

function shortName(head: Cell): Cell {
  const words = plainText(head);
  return words.length > LONGEST_NAME ? [text(`${clean(words.slice(0, LONGEST_NAME))}…`, 0)] : head;
}

function named(head: readonly Cell[], row: readonly Cell[]): Inline[] {
  return row.flatMap((cell, at): Inline[] => {
    if (cell.length === 0) return [];
    const name = head[at]!.map((span): Inline => ({ ...span, marks: span.marks | STRONG }));
    const pair: Inline[] = name.length > 0 ? [...name, text(": ", 0), ...cell] : [...cell];
    return at === 0 ? pair : [{ kind: "break", marks: 0 }, ...pair];
  });
}

function joined(cells: readonly Cell[], by: string): Inline[] {
  return cells.flatMap((cell, at): Inline[] => (at === 0 ? [...cell] : [text(by, 0), ...cell]));
}

const BETWEEN = "  ";

/** Its lines, unless they would be wider than `most`: one long cell must not make every line as long. */
function alignedTable(table: Extract<Block, { kind: "table" }>, most: number): string[] | undefined {
  const rows: string[][] = [];
  const widths = table.align.map(() => 0);
  let left = most - BETWEEN.length * (widths.length - 1);
  for (const row of [table.head, ...table.rows]) {
    const cells = row.map(cellText);
    for (const [at, cell] of cells.entries()) {
      const more = width(cell) - widths[at]!;
      if (more <= 0) continue;
      widths[at]! += more;
      left -= more;
    }
    if (left < 0) return undefined;
    rows.push(cells);
  }
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => {
        const free = widths[at]! - width(cell);
        const before = { left: 0, right: free, center: Math.floor(free / 2) }[table.align[at]!];
        return " ".repeat(before) + cell + " ".repeat(free - before);
      })
      .join(BETWEEN)
      .trimEnd();
  return [line(rows[0]!), widths.map((w) => "─".repeat(w)).join(BETWEEN), ...rows.slice(1).map(line)];
}

/** In code there are no links: the target stands beside the words. */
function cellText(cell: Cell): string {
  return cell
    .map((span) => {
      const words = plainText([span]).replaceAll("\n", " ");
      return span.kind === "link" && words !== span.url ? `${words} (${span.url})` : words;
    })
    .join("");
}

const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|\p{Emoji_Presentation})$/u;

/** Columns in a monospace font: wide characters and emoji take two, joiners and combining marks none. */
function width(words: string): number {
  if (/^[ -~]*$/.test(words)) return words.length;
  let columns = 0;
  for (const sign of words) {
    if (/\p{M}|\p{Cf}|\ufe0f/u.test(sign)) continue;
    columns += WIDE.test(sign) ? 2 : 1;
  }
  return columns;
}
