/**
 * A lowered tree as a line of positions: each sign of text is one, and what cannot be cut (a link, a table, a mention) is one
 * as a whole. `slice` gives the tree between two positions; what lies around it (quote, list, fence with its language) is
 * there again, so each slice is a whole tree of its own.
 */
import type { Block, Inline, Item, Tree } from "./tree.ts";

export function sizeOf(block: Block): number {
  switch (block.kind) {
    case "paragraph":
    case "heading":
      return sum(block.inlines, inlineSize);
    case "quote":
      return sum(block.blocks, sizeOf);
    case "list":
      return sum(block.items, itemSize);
    case "fence":
      // An empty fence still is something to show.
      return Math.max(block.text.length, 1);
    case "table":
    case "rule":
      return 1;
  }
}

/** An item is at least one: its task may be all there is. */
export function itemSize(item: Item): number {
  return Math.max(sum(item.blocks, sizeOf), 1);
}

export function inlineSize(span: Inline): number {
  return span.kind === "text" || span.kind === "code" ? span.text.length : 1;
}

export function slice(tree: Tree, from: number, to: number): Tree {
  return { blocks: sliceAll(tree.blocks, from, to, sizeOf, sliceBlock) };
}

function sliceBlock(block: Block, from: number, to: number): Block[] {
  switch (block.kind) {
    case "paragraph":
    case "heading": {
      const inlines = sliceAll(block.inlines, from, to, inlineSize, sliceInline);
      return inlines.length > 0 ? [{ ...block, inlines }] : [];
    }
    case "quote":
      return [{ ...block, blocks: sliceAll(block.blocks, from, to, sizeOf, sliceBlock) }];
    case "fence":
      return [{ ...block, text: block.text.slice(from, to) }];
    case "list":
      return sliceList(block, from, to);
    case "table":
    case "rule":
      return [block];
  }
}

function sliceList(list: Extract<Block, { kind: "list" }>, from: number, to: number): Block[] {
  const before: Block[] = [];
  const items: Item[] = [];
  let start = list.start;
  let at = 0;
  for (const item of list.items) {
    const size = itemSize(item);
    const cut = [Math.max(from - at, 0), Math.min(to - at, size)] as const;
    if (cut[1] > 0 && cut[0] < size) {
      const blocks = sliceAll(item.blocks, cut[0], cut[1], sizeOf, sliceBlock);
      // The rest of an item has had its marker: it stands before the list goes on.
      if (cut[0] > 0) before.push(...blocks);
      else items.push({ ...item, blocks });
    }
    if (at + size <= from || cut[0] > 0) start++;
    at += size;
    if (at >= to) break;
  }
  return items.length > 0 ? [...before, { ...list, start, items }] : before;
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
  const result: T[] = [];
  let at = 0;
  for (const node of nodes) {
    if (at >= to) break;
    const end = at + size(node);
    if (end > from) {
      if (from <= at && end <= to) result.push(node);
      else result.push(...cut(node, Math.max(from - at, 0), Math.min(to, end) - at));
    }
    at = end;
  }
  return result;
}

function sum<T>(nodes: readonly T[], size: (node: T) => number): number {
  let total = 0;
  for (const node of nodes) total += size(node);
  return total;
}
