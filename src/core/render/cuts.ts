/** Where a tree may be cut, and how well: between blocks best, then lines, sentences, words, and never inside a sign. */

import { assertNever } from "../domain/index.ts";
import { countUpTo, inlineSize, itemSize, measureBlock, slice } from "./slice.ts";
import type { Block, Inline, Tree } from "./tree.ts";

interface Leaf {
  start: number;
  text: string;
  /** Another span of the same paragraph stands before it. */
  follows: boolean;
}

/** Better cuts have higher ranks. */
const RANKS = ["sign", "word", "sentence", "line", "inner", "block"] as const;
type Rank = (typeof RANKS)[number];

/** What belongs to the sign before it even over a mark's edge. */
const CLINGS = /^(?:\p{M}|\u200d|\ufe0f|\p{EMod})/u;

export class Cuts {
  readonly end: number;
  readonly #tree: Tree;
  /** Where each block of the tree begins. */
  readonly #starts: number[] = [];
  readonly #leaves: Leaf[] = [];
  /** Ends of blocks and lines. */
  readonly #marks: { at: number; rank: Rank }[] = [];
  /** Made when first needed: the first one of a process takes some milliseconds. */
  #signs: Intl.Segmenter | undefined;

  constructor(tree: Tree) {
    this.#tree = tree;
    this.end = this.#blocks(tree.blocks, 0, "block", this.#starts);
  }

  /** The tree between two places, without walking what lies before: cutting stays as cheap at the end as at the start. */
  window(from: number, to: number): Tree {
    const first = countUpTo(this.#starts, (start) => start <= from) - 1;
    const last = countUpTo(this.#starts, (start) => start < to);
    const base = this.#starts[first]!;
    return slice({ blocks: this.#tree.blocks.slice(first, last) }, from - base, to - base);
  }

  /** The last place at or before `at`, after `from`, where no sign is cut in two; undefined when there is none. */
  snap(from: number, at: number): number | undefined {
    let place = at;
    while (place > from) {
      const leaf = this.#leafAt(place);
      if (!leaf || place <= leaf.start || place >= leaf.start + leaf.text.length) {
        if (!leaf || place !== leaf.start || !leaf.follows || !CLINGS.test(leaf.text)) return place;
        place--;
        continue;
      }
      // A window around the place: a sign is short, and looking at the whole text would cost its length each time.
      const inner = place - leaf.start;
      const lo = Math.max(inner - 200, 0);
      this.#signs ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
      const sign = this.#signs.segment(leaf.text.slice(lo, inner + 200)).containing(inner - lo)!;
      if (sign.index + lo === inner) return place;
      if (sign.index > 0 || lo === 0) place = leaf.start + lo + sign.index;
      else return place;
      if (place > leaf.start) return place > from ? place : undefined;
    }
    return undefined;
  }

  /** The first end of a line or block behind this place. */
  nextEnd(from: number): number {
    return this.#marks[countUpTo(this.#marks, (mark) => mark.at <= from)]?.at ?? this.end;
  }

  /** The best cut in (from, to]: `to` is known to fit. `next` is where the following message begins. */
  best(from: number, to: number): { at: number; next: number } {
    if (to >= this.end) return { at: this.end, next: this.end };
    // A cut in the first third would make many small messages.
    const least = from + (to - from) / 3;
    for (const rank of [...RANKS].reverse()) {
      const at = rank === "sign" ? to : this.#last(rank, least, to);
      if (at !== undefined) return { at, next: this.#behindBlank(at) };
    }
    return { at: to, next: to };
  }

  #last(rank: Rank, least: number, to: number): number | undefined {
    if (rank !== "word" && rank !== "sentence") {
      for (let i = countUpTo(this.#marks, (mark) => mark.at <= to) - 1; i >= 0 && this.#marks[i]!.at > least; i--) {
        if (this.#marks[i]!.rank === rank) return this.#marks[i]!.at;
      }
      return undefined;
    }
    for (let i = this.#leafIndex(to); i >= 0; i--) {
      const leaf = this.#leaves[i]!;
      const text = leaf.text.slice(0, Math.max(to - leaf.start + 1, 0));
      for (let at = text.length - 1; at >= 0 && leaf.start + at > least; at--) {
        if (leaf.start + at > to || !/\s/.test(text[at]!)) continue;
        if (rank === "word" || /[.!?…。！？]["'”’)\]]?$/.test(text.slice(Math.max(at - 2, 0), at))) {
          const start = text.slice(0, at).trimEnd().length;
          if (leaf.start + start > least) return leaf.start + start;
          break;
        }
      }
      if (leaf.start <= least) break;
    }
    return undefined;
  }

  /** The blank or line end at the cut goes; inside code only the one line end, since blank lines and indents are code. */
  #behindBlank(at: number): number {
    const leaf = this.#leafAt(at);
    if (!leaf) return at;
    const rest = leaf.text.slice(at - leaf.start, at - leaf.start + 1000);
    const blank = rest.startsWith("\n") ? 1 : rest.length - rest.trimStart().length;
    return at + (at > leaf.start || rest.startsWith("\n") ? blank : 0);
  }

  #leafIndex(at: number): number {
    return countUpTo(this.#leaves, (leaf) => leaf.start <= at) - 1;
  }

  /** The text this place is in, or at whose start it is. */
  #leafAt(at: number): Leaf | undefined {
    const leaf = this.#leaves[this.#leafIndex(at)];
    return leaf && at < leaf.start + leaf.text.length ? leaf : undefined;
  }

  #mark(at: number, rank: Rank): void {
    const last = this.#marks.at(-1);
    if (last?.at === at) {
      if (RANKS.indexOf(last.rank) < RANKS.indexOf(rank)) last.rank = rank;
    } else this.#marks.push({ at, rank });
  }

  #blocks(blocks: readonly Block[], from: number, rank: Rank, starts?: number[]): number {
    let at = from;
    for (const block of blocks) {
      starts?.push(at);
      this.#block(block, at);
      at += measureBlock(block);
      // A heading stays with what it is the heading of.
      if (block.kind !== "heading") this.#mark(at, rank);
    }
    return at;
  }

  #block(block: Block, from: number): void {
    switch (block.kind) {
      case "paragraph":
      case "heading":
        this.#inlines(block.inlines, from);
        break;
      case "quote":
        this.#blocks(block.blocks, from, "inner");
        break;
      case "list": {
        let at = from;
        for (const item of block.items) {
          this.#blocks(item.blocks, at, "line");
          at += itemSize(item);
          this.#mark(at, "inner");
        }
        break;
      }
      case "fence":
        this.#leaves.push({ start: from, text: block.text, follows: false });
        for (const found of block.text.matchAll(/\n/g)) this.#mark(from + found.index, "line");
        break;
      case "table":
      case "rule":
        break;
      default:
        assertNever(block);
    }
  }

  #inlines(inlines: readonly Inline[], from: number): void {
    let at = from;
    for (const span of inlines) {
      if (span.kind === "text" || span.kind === "code")
        this.#leaves.push({ start: at, text: span.text, follows: at > from });
      if (span.kind === "break") this.#mark(at, "line");
      at += inlineSize(span);
    }
  }
}
