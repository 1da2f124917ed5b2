/** The one walker: a lowered tree and a dialect's table → the text that is sent. */

import { assertNever } from "../domain/index.ts";
import { type Dialect, type Part, ZERO } from "./dialect.ts";
import { plain } from "./dialects/lines.ts";
import { parseInline } from "./inline.ts";
import { lower } from "./lower.ts";
import { type Block, clean, EM, type Inline, type Marks, plainText, STRIKE, STRONG, type Tree } from "./tree.ts";

/** What stands for a span where only its edges count. */
const SHOWN: Readonly<Record<string, string>> = { break: "\n", code: "`" };

/** What whole blocks were written as, by themselves and in an item: the search for a cut writes nearly the same tree again and again. */
export interface Written {
  blocks: WeakMap<Block, string>;
  inside: WeakMap<Block, string>;
}

export const nothingWritten = (): Written => ({ blocks: new WeakMap(), inside: new WeakMap() });

function once(known: WeakMap<Block, string> | undefined, block: Block, write: () => string): string {
  if (!known || isShort(block)) return write();
  const before = known.get(block);
  if (before !== undefined) return before;
  const written = write();
  known.set(block, written);
  return written;
}

/** A few words are written faster than looked up. */
function isShort(block: Block): boolean {
  if (block.kind === "rule") return true;
  if (block.kind !== "paragraph" && block.kind !== "heading") return false;
  const [first] = block.inlines;
  return block.inlines.length === 1 && first!.kind === "text" && first!.text.length < 200;
}

export function writePart(tree: Tree, dialect: Dialect, known?: Written): Part {
  return dialect.finish(writeBlocks(tree.blocks, dialect, dialect.gap, known), () =>
    writeBlocks(lower(tree, { dialect: plain, fits: () => true }).blocks, plain, plain.gap),
  );
}

function writeBlocks(blocks: readonly Block[], dialect: Dialect, gap: string, known?: Written): string {
  return blocks
    .map((block) => once(known?.blocks, block, () => writeBlock(block, dialect, known)))
    .filter((written) => written !== "")
    .join(gap);
}

function writeBlock(block: Block, dialect: Dialect, known?: Written): string {
  switch (block.kind) {
    case "paragraph": {
      const inner = writeInlines(block.inlines, dialect);
      return inner === "" ? "" : dialect.paragraph(inner);
    }
    case "heading": {
      if (dialect.heading) {
        const inner = writeInlines(block.inlines, dialect);
        return inner === "" ? "" : dialect.heading(inner, block.level);
      }
      const bold = block.inlines.map((span): Inline => ({ ...span, marks: span.marks | STRONG }));
      return writeBlock({ kind: "paragraph", inlines: bold }, dialect);
    }
    case "quote": {
      const inner = writeBlocks(block.blocks, dialect, dialect.gap, known);
      return inner === "" ? "" : dialect.quote(inner);
    }
    case "fence":
      return dialect.fence(clean(block.text), block.lang);
    case "rule":
      return dialect.rule;
    case "table": {
      const cells = (row: readonly (readonly Inline[])[]) => row.map((cell) => writeInlines(cell, dialect));
      return dialect.table!(cells(block.head), block.rows.map(cells), block.align);
    }
    case "list": {
      const items = block.items.map((item, at) => {
        const number = block.ordered ? block.start + at : undefined;
        const blocks = item.blocks.map((inner) => ({
          text: once(known?.inside, inner, () => writeInside(inner, dialect, known)),
          isFlush: inner.kind === "fence" || inner.kind === "quote",
        }));
        const shown = blocks.filter(({ text }) => text !== "");
        return dialect.list.item(
          dialect.list.marker({ number, task: item.task }),
          shown,
          block.loose ? dialect.gap : "\n",
        );
      });
      return dialect.list.wrap(items, block.ordered, block.start);
    }
    default:
      return assertNever(block);
  }
}

/** A paragraph that is all of an item needs no tags of its own. */
function writeInside(block: Block, dialect: Dialect, known: Written | undefined): string {
  return block.kind === "paragraph" ? writeInlines(block.inlines, dialect) : writeBlock(block, dialect, known);
}

// ── spans ───────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Run {
  inline: Inline;
  marks: Marks;
  /** The shown characters, for the rules of where a mark may stand. */
  shown: string;
}

const EACH: readonly Marks[] = [STRONG, EM, STRIKE];
const SPACE = /\s/;
const SIGN = /[\p{P}\p{S}]/u;

function writeInlines(inlines: readonly Inline[], dialect: Dialect): string {
  const [first] = inlines;
  if (inlines.length === 1 && first!.kind === "text" && first!.marks === 0 && first!.text === first!.text.trim())
    return writeRun({ inline: first!, marks: 0, shown: first!.text }, dialect, true);
  const runs = standing(spread(trimmed(inlines), dialect), dialect);
  const all = withMarks(runs, dialect);
  if (!all.crowded || dialect.marksStand !== "flanking" || readsAs(all.text, runs)) return all.text;
  // Marks that meet may be read otherwise than they were meant: the words come first, the marks as far as they can be had.
  const bold = withMarks(keeping(STRONG, runs), dialect);
  return readsAs(bold.text, runs) ? bold.text : withMarks(keeping(0, runs), dialect).text;
}

const keeping = (marks: Marks, runs: readonly Run[]) => runs.map((run) => ({ ...run, marks: run.marks & marks }));

function readsAs(text: string, runs: readonly Run[]): boolean {
  const seen = (spans: readonly Inline[]) => plainText(spans).replaceAll(ZERO, "");
  return seen(parseInline(text)) === seen(runs.map(({ inline }) => inline));
}

/** `crowded`: somewhere two marks stand side by side. */
function withMarks(runs: readonly Run[], dialect: Dialect): { text: string; crowded: boolean } {
  // Pieces, not one growing text: asking that one for its end would copy it each time.
  const pieces: string[] = [];
  let isLineStart = true;
  let crowded = false;
  let open: Marks[] = [];
  let lasts: Map<Marks, Uint32Array> | undefined;
  const put = (piece: string) => {
    if (piece === "") return;
    pieces.push(piece);
    isLineStart = piece.endsWith("\n");
  };
  runs.forEach((run, at) => {
    const keep = open.findIndex((mark) => !(run.marks & mark));
    const closed = keep === -1 ? [] : open.slice(keep);
    for (const mark of closed.reverse()) put(pair(mark, dialect)[1]);
    open = keep === -1 ? open : open.slice(0, keep);
    // A blank goes on with what is open, and opens nothing.
    const opening = run.shown.trim() === "" ? [] : EACH.filter((mark) => run.marks & mark && !open.includes(mark));
    // The one that lasts longest is outside.
    if (opening.length > 1) {
      lasts ??= new Map(EACH.map((mark) => [mark, extents(runs, mark)]));
      opening.sort((a, b) => lasts!.get(b)![at]! - lasts!.get(a)![at]!);
    }
    // Two marks side by side would be read as one (`*a***b**`).
    if (closed.length > 0 && opening.length > 0 && dialect.marksStand !== "anywhere") put(ZERO);
    for (const mark of opening) put(pair(mark, dialect)[0]);
    open.push(...opening);
    crowded ||= closed.length + opening.length > 1;
    put(writeRun(run, dialect, isLineStart));
  });
  crowded ||= open.length > 1;
  for (const mark of open.reverse()) put(pair(mark, dialect)[1]);
  return { text: pieces.join(""), crowded };
}

/** No line break or blank at either end. */
function trimmed(inlines: readonly Inline[]): Inline[] {
  let [from, to] = [0, inlines.length];
  while (from < to && isBlank(inlines[from]!)) from++;
  while (to > from && isBlank(inlines[to - 1]!)) to--;
  return inlines.slice(from, to);
}

function isBlank(span: Inline): boolean {
  return span.kind === "break" || (span.kind === "text" && span.text.trim() === "");
}

function writeRun({ inline }: Run, dialect: Dialect, lineStart: boolean): string {
  switch (inline.kind) {
    case "text":
      return dialect.escape(clean(inline.text).replaceAll("\n", " "), lineStart);
    case "code":
      return dialect.code(clean(inline.text).replaceAll("\n", " "));
    case "break":
      return dialect.lineBreak;
    case "mention":
      return dialect.mention!.write(inline.id, clean(inline.label));
    case "image":
      return dialect.escape(clean(inline.alt), lineStart);
    case "link": {
      const [first] = inline.label;
      const isItself =
        inline.label.length === 1 && first!.kind === "text" && inline.url.replace(/^mailto:/i, "") === first!.text;
      if (isItself || !dialect.link) return dialect.url(inline.url);
      return dialect.link(writeInlines(inline.label, dialect), inline.url);
    }
    default:
      return assertNever(inline);
  }
}

/** Marks that may not be are dropped; blanks at their edges step outside, since no platform takes a mark beside a blank. */
function spread(inlines: readonly Inline[], dialect: Dialect): Run[] {
  const runs: Run[] = [];
  for (const inline of inlines) {
    if (inline.kind === "code" && inline.text === "") continue;
    if (inline.kind === "text") {
      if (inline.text === "") continue;
      if (!hasBlankEdge(inline.text)) {
        runs.push({ inline, marks: inline.marks, shown: inline.text });
        continue;
      }
      const from = inline.text.length - inline.text.trimStart().length;
      const to = Math.max(inline.text.trimEnd().length, from);
      for (const text of [inline.text.slice(0, from), inline.text.slice(from, to), inline.text.slice(to)]) {
        if (text) runs.push({ inline: { ...inline, text }, marks: inline.marks, shown: text });
      }
      continue;
    }
    const bare = inline.kind === "break" || (inline.kind === "code" && !dialect.marksOnCode);
    const shown = SHOWN[inline.kind] ?? "[";
    runs.push({ inline, marks: bare ? 0 : inline.marks, shown });
  }
  runs.forEach((run, at) => {
    if (run.shown.trim() === "") run.marks &= (runs[at - 1]?.marks ?? 0) & (runs[at + 1]?.marks ?? 0);
  });
  for (let at = runs.length - 1; at >= 0; at--) {
    if (runs[at]!.shown.trim() === "") runs[at]!.marks &= (runs[at - 1]?.marks ?? 0) & (runs[at + 1]?.marks ?? 0);
  }
  return runs;
}

function hasBlankEdge(text: string): boolean {
  return SPACE.test(text[0]!) || SPACE.test(text.at(-1)!);
}

/** Takes away the marks that would not be read as marks where they stand. */
function standing(runs: Run[], dialect: Dialect): Run[] {
  for (const mark of EACH) {
    const none = pair(mark, dialect)[0] === "";
    for (let at = 0; at < runs.length; at++) {
      if (!(runs[at]!.marks & mark)) continue;
      const end = at + extent(runs, at, mark);
      const before = runs[at - 1]?.shown.at(-1) ?? " ";
      const after = runs[end]?.shown[0] ?? " ";
      const first = runs[at]!.shown[0]!;
      const last = runs[end - 1]!.shown.at(-1)!;
      const stands = !none && mayStand(before, first, dialect, true) && mayStand(after, last, dialect, false);
      if (!stands) for (let i = at; i < end; i++) runs[i]!.marks &= ~mark;
      at = end - 1;
    }
  }
  return runs;
}

/** May a mark stand between what is outside and what is inside of it? */
function mayStand(outside: string, inside: string, dialect: Dialect, opens: boolean): boolean {
  if (dialect.marksStand === "anywhere") return true;
  if (dialect.marksStand === "behind-blanks" && opens) return SPACE.test(outside);
  const free = SPACE.test(outside) || SIGN.test(outside);
  return free || (dialect.marksStand === "flanking" && !SIGN.test(inside));
}

/** Over how many runs from here this mark goes on. */
function extent(runs: readonly Run[], from: number, mark: Marks): number {
  let end = from;
  while (end < runs.length && runs[end]!.marks & mark) end++;
  return end - from;
}

/** The same for every run. */
function extents(runs: readonly Run[], mark: Marks): Uint32Array {
  const found = new Uint32Array(runs.length + 1);
  for (let at = runs.length - 1; at >= 0; at--) found[at] = runs[at]!.marks & mark ? found[at + 1]! + 1 : 0;
  return found;
}

function pair(mark: Marks, dialect: Dialect) {
  if (mark === STRONG) return dialect.strong;
  if (mark === EM) return dialect.em;
  return dialect.strike;
}
