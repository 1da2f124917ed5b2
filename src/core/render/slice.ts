/**
 * A lowered tree as a line of positions: each sign of text is one, and what cannot be cut (a link, a table, a mention) is one
 * as a whole. `slice` gives the tree between two positions; what lies around it (quote, list, fence with its language) is
 * there again, so each slice is a whole tree by itself.
 */

import { assertNever } from "../domain/index.ts";
import type { Block, Inline, ListItem, Tree } from "./tree.ts";

export function measureBlock(block: Block): number {
  switch (block.kind) {
    case "paragraph":
    case "heading":
      return sum(block.inlines, inlineSize);
    case "quote":
      return sum(block.blocks, measureBlock);
    case "list":
      return sum(block.items, itemSize);
    case "fence":
      // An empty fence still is something to show.
      return Math.max(block.text.length, 1);
    case "table":
    case "rule":
      return 1;
    default:
      return assertNever(block);
  }
}

/** An item is at least one: its task may be all there is. */
export function itemSize(item: ListItem): number {
  return Math.max(sum(item.blocks, measureBlock), 1);
}

export function inlineSize(span: Inline): number {
  return span.kind === "text" || span.kind === "code" ? span.text.length : 1;
}

export function slice(tree: Tree, from: number, to: number): Tree {
  return { blocks: sliceAll(tree.blocks, from, to, measureBlock, sliceBlock) };
}

function sliceBlock(block: Block, from: number, to: number): Block[] {
  switch (block.kind) {
    case "paragraph":
    case "heading": {
      const inlines = sliceAll(block.inlines, from, to, inlineSize, sliceInline);
      return inlines.length > 0 ? [{ ...block, inlines }] : [];
    }
    case "quote":
      return [{ ...block, blocks: sliceAll(block.blocks, from, to, measureBlock, sliceBlock) }];
    case "fence":
      return [{ ...block, text: block.text.slice(from, to) }];
    case "list":
      return sliceList(block, from, to);
    case "table":
    case "rule":
      return [block];
    default:
      return assertNever(block);
  }
}

function sliceList(list: Extract<Block, { kind: "list" }>, from: number, to: number): Block[] {
  const ends = findEnds(list.items, itemSize);
  const first = countUpTo(ends, (end) => end <= from);
  const before: Block[] = [];
  const items: ListItem[] = [];
  for (let i = first, at = ends[i - 1] ?? 0; i < ends.length && at < to; at = ends[i++]!) {
    const item = list.items[i]!;
    const blocks = sliceAll(item.blocks, Math.max(from - at, 0), Math.min(to, ends[i]!) - at, measureBlock, sliceBlock);
    // The rest of an item has had its marker: it stands before the list goes on.
    if (from > at) before.push(...blocks);
    else items.push(to >= ends[i]! ? item : { ...item, blocks });
  }
  const isCut = from > (ends[first - 1] ?? 0);
  return items.length > 0 ? [...before, { ...list, start: list.start + first + (isCut ? 1 : 0), items }] : before;
}

function sliceInline(span: Inline, from: number, to: number): Inline[] {
  return span.kind === "text" || span.kind === "code" ? [{ ...span, text: span.text.slice(from, to) }] : [span];
}

function sliceAll<T>(
  nodes: readonly T[],
  from: number,
  to: number,
  size: (node: T) => number,
  cut: (node: T, from: number, to: number) => T[],
): T[] {
  const ends = findEnds(nodes, size);
  const result: T[] = [];
  let i = countUpTo(ends, (end) => end <= from);
  for (let at = ends[i - 1] ?? 0; i < ends.length && at < to; at = ends[i++]!) {
    const end = ends[i]!;
    if (from <= at && end <= to) result.push(nodes[i]!);
    else result.push(...cut(nodes[i]!, Math.max(from - at, 0), Math.min(to, end) - at));
  }
  return result;
}

function sum<T>(nodes: readonly T[], size: (node: T) => number): number {
  if (nodes.length > FEW) return findEnds(nodes, size).at(-1)!;
  let all = 0;
  for (const node of nodes) all += size(node);
  return all;
}

/** Below this many nodes, counting is faster than a lookup. */
const FEW = 8;
/** A tree never changes, so where its nodes end is counted once: a list of 20,000 items is cut as quickly as one of ten. */
const ENDS = new WeakMap<readonly unknown[], readonly number[]>();

function findEnds<T>(nodes: readonly T[], size: (node: T) => number): readonly number[] {
  const known = nodes.length > FEW ? ENDS.get(nodes) : undefined;
  if (known) return known;
  let at = 0;
  const ends = nodes.map((node) => {
    at += size(node);
    return at;
  });
  if (nodes.length > FEW) ENDS.set(nodes, ends);
  return ends;
}

/** How many of a sorted list come before the first that is not so. */
export function countUpTo<T>(list: readonly T[], isBefore: (item: T) => boolean): number {
  let [lo, hi] = [0, list.length];
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (isBefore(list[mid]!)) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}
