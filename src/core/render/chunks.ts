/**
 * Markdown → messages a platform takes. The tree is cut, not the written text, and each piece is written on its own.
 *
 * RENDER-1: no part is longer than the limit.
 * RENDER-2: each part is whole in its dialect: what the cut closed is open again in the next part.
 * RENDER-3: nothing is lost but the blanks at a cut.
 * RENDER-4: the same words give the same parts (a delivery that is tried again must find its parts again).
 */

import { assertNever } from "../domain/index.ts";
import { Cuts } from "./cuts.ts";
import type { Dialect, DialectName, Part, Unit } from "./dialect.ts";
import { dialects } from "./dialects/index.ts";
import { lower } from "./lower.ts";
import { parse } from "./parse.ts";
import { slice } from "./slice.ts";
import { type Block, type Inline, plainText, type Tree } from "./tree.ts";
import { nothingWritten, writePart } from "./write.ts";

export interface RenderOptions {
  /** Ids of people this message may call with `[name](mention:ID)`. Nobody without it. */
  mentions?: ReadonlySet<string>;
}

export interface ChunkOptions extends RenderOptions {
  /** At least 64. The dialect's usual limit without it. */
  limit?: number;
  unit?: Unit;
  /** Stop after this many parts: for callers that send no more and should not pay for more. */
  most?: number;
}

/** Below this, one sign with its tags and escapes might not fit. */
const LEAST_LIMIT = 64;

/** The whole in one part, however long; in IRC's dialect one part a line. */
export function render(tree: Tree, name: DialectName, options: RenderOptions = {}): Part[] {
  const dialect = dialects[name];
  const part = writePart(lower(tree, { dialect, mentions: options.mentions, fits: () => true }), dialect);
  const parts = dialect.oneLine ? part.text.split("\n").map((text) => ({ text })) : [part];
  return parts.filter((shown) => shown.text.trim() !== "");
}

export function chunks(markdown: string, name: DialectName, options: ChunkOptions = {}): Part[] {
  const dialect = dialects[name];
  const { limit, unit } = { ...dialect.limit, ...options };
  if (!(limit >= LEAST_LIMIT))
    throw new RangeError(`A message limit of ${limit} is too small: ${LEAST_LIMIT} is the least.`);
  const most = options.most ?? Number.POSITIVE_INFINITY;
  const known = nothingWritten();
  // A link or table gets half a message at most, so that it fits whatever stands around it.
  const fitsHalf = (block: Block) =>
    measureShare(writePart({ blocks: [block] }, dialect), dialect, limit / 2, unit) <= 1;

  let tree = lower(parse(markdown), { dialect, mentions: options.mentions, fits: fitsHalf });
  let cuts = new Cuts(tree);
  const parts: Part[] = [];
  // How many places the last part took: the next one is mostly like it.
  let usual = limit;
  for (let from = 0; from < cuts.end && parts.length < most; ) {
    // A place costs at least one of the unit, except half of an astral sign counted as a code point.
    const widest = Math.min(cuts.end, from + (unit === "codepoints" ? 2 : 1) * limit);
    const furthest = dialect.oneLine ? Math.min(widest, cuts.nextEnd(from)) : widest;
    const rest = cuts.window(from, furthest);
    // Usually the cut is at a place that was tried, so the part is there already.
    const tried = new Map<number, Part>();
    const partTo = (to: number): Part => {
      const part = tried.get(to) ?? writePart(slice(rest, 0, to - from), dialect, known);
      tried.set(to, part);
      return part;
    };
    const share = (to: number) => measureShare(partTo(to), dialect, limit, unit);
    const to = longest(cuts, { from, furthest, likely: from + usual, share });
    if (to === undefined) {
      // Not even one sign fits with what stands around it: its words, and nothing around them.
      tree = bared(slice(tree, from, cuts.end));
      cuts = new Cuts(tree);
      from = 0;
      continue;
    }
    const best = cuts.best(from, to);
    const cut = best.at === to || share(best.at) <= 1 ? best : { at: to, next: to };
    const part = partTo(cut.at);
    if (part.text.trim() !== "") parts.push(part);
    usual = to - from;
    from = cut.next;
  }
  return parts;
}

/** A part that takes this much of the limit is full: a few more letters are not worth writing it again. */
const FULL = 0.98;

/**
 * The furthest place, nearly, so that everything from `from` to it fits; undefined when nothing does. `share` says how much of
 * the limit it takes. Writing is the dear part, so the next guess follows from what the last ones took, and halves the rest
 * only where that brings nothing.
 */
function longest(
  cuts: Cuts,
  { from, furthest, likely, share }: { from: number; furthest: number; likely: number; share(place: number): number },
): number | undefined {
  let [lo, hi] = [from, furthest + 1];
  let [atLo, atHi] = [0, Number.NaN];
  let place = Math.min(furthest, Math.max(likely, from + 1));
  for (let guesses = 1; hi - lo > 1 && atLo < FULL; guesses++) {
    const taken = share(place);
    if (taken <= 1) [lo, atLo] = [place, taken];
    else [hi, atHi] = [place, taken];
    const isKnown = Number.isFinite(atHi) && atHi > atLo;
    const slope = isKnown ? (atHi - atLo) / (hi - lo) : atLo / (lo - from);
    const isUseful = slope > 0 && Number.isFinite(slope) && guesses % 3 > 0;
    const guess = isUseful ? lo + Math.floor((0.995 - atLo) / slope) : (lo + hi) >> 1;
    place = Math.min(Math.max(guess, lo + 1), hi - 1);
  }
  // Written, a shorter text is sometimes longer (a mark that could not stand before): the place itself is asked again.
  for (let to = cuts.snap(from, lo); to !== undefined; to = cuts.snap(from, to - 1)) {
    if (to === lo || share(to) <= 1) return to;
  }
  return undefined;
}

/** The first block as bare words; when it is that already, its first sign is cut at a code point. */
function bared(tree: Tree): Tree {
  const [first, ...others] = tree.blocks as [Block, ...Block[]];
  const isBare = first.kind === "paragraph" && first.inlines.every((span) => span.kind === "text" && span.marks === 0);
  if (!isBare) return { blocks: [{ kind: "paragraph", inlines: bareInlines(first) }, ...others] };
  const words = [...plainText(first.inlines)];
  const paragraph = (text: string): Block => ({ kind: "paragraph", inlines: [{ kind: "text", text, marks: 0 }] });
  return { blocks: [paragraph(words.slice(0, 4).join("")), paragraph(words.slice(4).join("")), ...others] };
}

function bareInlines(block: Block): Inline[] {
  const text = (words: string): Inline[] => (words ? [{ kind: "text", text: words, marks: 0 }] : []);
  switch (block.kind) {
    case "paragraph":
    case "heading":
      return block.inlines.flatMap((span) => {
        const words = plainText([span]).replaceAll("\n", " ");
        return text(span.kind === "link" && words !== span.url ? `${words} (${span.url})` : words);
      });
    case "quote":
      return block.blocks.flatMap((inner) => [...bareInlines(inner), ...text(" ")]);
    case "list":
      return block.items.flatMap((item) => item.blocks.flatMap((inner) => [...bareInlines(inner), ...text(" ")]));
    case "table":
      return [block.head, ...block.rows].flatMap((row) => row.flatMap((cell) => [...cell, ...text(" ")]));
    case "fence":
      return text(block.text.replaceAll("\n", " "));
    case "rule":
      return text("———");
    default:
      return assertNever(block);
  }
}

// ── the limit ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** How much of the limit a part takes: at most 1 when it fits, infinite when no limit would do. */
function measureShare(part: Part, dialect: Dialect, limit: number, unit: Unit): number {
  if (dialect.oneLine && part.text.includes("\n")) return Number.POSITIVE_INFINITY;
  const entities = dialect.mostEntities ? ((part.html?.split(/<\w/).length ?? 1) - 1) / dialect.mostEntities : 0;
  return Math.max(entities, sizeOfPart(part, dialect, unit) / limit);
}

function sizeOfPart(part: Part, dialect: Dialect, unit: Unit): number {
  if (dialect.counts === "text") return length(part.text, unit);
  const html = length(part.html ?? "", unit);
  return dialect.counts === "html" ? html : html + length(part.text, unit);
}

export function length(text: string, unit: Unit): number {
  if (unit === "utf16") return text.length;
  if (unit === "bytes") return Buffer.byteLength(text);
  let count = 0;
  for (const _ of text) count++;
  return count;
}
