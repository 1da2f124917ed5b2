/**
 * Model and tool text on the page: `core/render` reads the Markdown, as it does for every channel, and this writes its tree as
 * nodes. Text only ever becomes text nodes, and attributes come from the few values below, so there is no HTML to clean.
 *
 * UI-4: a finished block is never parsed or drawn again: only the end of a growing text is.
 * UI-5: a text that is too long to draw, or has a word nobody reads, is shown without its marks.
 */
import {
  type Block,
  EM,
  growingText,
  type Inline,
  type ListItem,
  plainText,
  STRIKE,
  STRONG,
} from "../../../src/core/render/index.ts";

/** In a chat a line end is a line end; in a file it is where the writer's editor wrapped. */
export type Kind = "chat" | "file";
export type { Block };

/** A few books' chapters; more would be tens of thousands of nodes, which a phone draws for seconds. */
const MOST_LETTERS = 100_000;
/** Longer than any word or address people read; a page with one of 80,000 open brackets stood still for half a minute. */
const LONG_WORD = /\S{4000}/;
/** A paragraph with more marks than this was not written for reading: its words are shown without them. */
const MOST_SPANS = 10_000;

/** The blocks of a text that may grow at its end. */
export function toBlocks(): (text: string) => readonly Block[] {
  const grow = growingText();
  return (text) => {
    const isReadable = text.length <= MOST_LETTERS && !LONG_WORD.test(text);
    return isReadable ? grow(text) : [{ kind: "fence", lang: "", text }];
  };
}

export function toNodes(block: Block, kind: Kind, page: Document = document): Node {
  return writeBlock(block, { kind, page });
}

interface Sheet {
  kind: Kind;
  page: Document;
}

function writeBlock(block: Block, on: Sheet): HTMLElement {
  switch (block.kind) {
    case "paragraph":
      return element(on, "p", writeInlines(block.inlines, on));
    case "heading":
      return element(on, `h${block.level}`, writeInlines(block.inlines, on));
    case "quote":
      return element(
        on,
        "blockquote",
        block.blocks.map((inner) => writeBlock(inner, on)),
      );
    case "list":
      return writeList(block, on);
    case "fence":
      return element(on, "pre", [element(on, "code", [block.text], block.lang && `language-${block.lang}`)]);
    case "table":
      return writeTable(block, on);
    case "rule":
      return element(on, "hr", []);
    default:
      return block satisfies never;
  }
}

function writeList(list: Extract<Block, { kind: "list" }>, on: Sheet): HTMLElement {
  const items = list.items.map((item) => writeItem(item, list.loose, on));
  const made = element(on, list.ordered ? "ol" : "ul", items);
  if (list.ordered && list.start !== 1) made.setAttribute("start", String(list.start));
  return made;
}

function writeItem(item: ListItem, loose: boolean, on: Sheet): HTMLElement {
  const nodes = item.blocks.flatMap((block) =>
    block.kind === "paragraph" && !loose ? writeInlines(block.inlines, on) : [writeBlock(block, on)],
  );
  if (item.task === undefined) return element(on, "li", nodes);
  return element(on, "li", [item.task ? "☑ " : "☐ ", ...nodes], "task");
}

function writeTable(table: Extract<Block, { kind: "table" }>, on: Sheet): HTMLElement {
  const row = (tag: "th" | "td", cells: readonly (readonly Inline[])[]) =>
    element(
      on,
      "tr",
      cells.map((cell, at) => {
        const align = table.align[at] ?? "left";
        return element(on, tag, writeInlines(cell, on), align === "left" ? "" : align);
      }),
    );
  const head = element(on, "thead", [row("th", table.head)]);
  const rows = table.rows.map((cells) => row("td", cells));
  return element(on, "div", [element(on, "table", [head, element(on, "tbody", rows)])], "scroll");
}

function writeInlines(inlines: readonly Inline[], on: Sheet): (Node | string)[] {
  if (inlines.length > MOST_SPANS) return writeLines(plainText(inlines), on);
  return inlines.map((span) => marked(span, writeSpan(span, on), on));
}

function writeLines(text: string, on: Sheet): (Node | string)[] {
  return text.split("\n").flatMap((line, at) => (at === 0 ? [line] : [element(on, "br", []), line]));
}

function writeSpan(span: Inline, on: Sheet): Node | string {
  switch (span.kind) {
    case "text":
      return span.text;
    case "code":
      return element(on, "code", [span.text]);
    case "break":
      return span.soft && on.kind === "file" ? " " : element(on, "br", []);
    case "link":
      return writeLink(span, on);
    // `core/render` has already made these links and words.
    case "image":
      return span.alt;
    case "mention":
      return span.label;
    default:
      return span satisfies never;
  }
}

/** The target is http, https or mailto (RENDER-7), and it must not be able to steer this page. */
function writeLink(span: Extract<Inline, { kind: "link" }>, on: Sheet): HTMLElement {
  const link = element(on, "a", writeInlines(span.label, on));
  link.setAttribute("href", span.url);
  link.setAttribute("target", "_blank");
  link.setAttribute("rel", "noopener noreferrer nofollow");
  return link;
}

const MARKS: readonly [mark: number, tag: string][] = [
  [STRIKE, "del"],
  [EM, "em"],
  [STRONG, "strong"],
];

function marked(span: Inline, node: Node | string, on: Sheet): Node | string {
  if (span.marks === 0 || span.kind === "break") return node;
  return MARKS.reduce((inner, [mark, tag]) => (span.marks & mark ? element(on, tag, [inner]) : inner), node);
}

function element(on: Sheet, tag: string, inside: readonly (Node | string)[], name = ""): HTMLElement {
  const made = on.page.createElement(tag);
  if (name) made.className = name;
  // One by one: `append(...inside)` would put a hundred thousand nodes on the stack.
  for (const node of inside) made.append(node);
  return made;
}
