/**
 * The one tree every answer is written from. Blocks nest; inside a block the words are flat spans that carry their marks, so
 * that no text, however hostile, makes a deep tree, and a text can be cut anywhere without taking marks apart.
 *
 * RENDER-8: no control sign, lone surrogate, noncharacter or bidi override is in a tree made by `parse` (`clean`).
 */
import { assertNever } from "../domain/index.ts";

export const STRONG = 1;
export const EM = 2;
export const STRIKE = 4;
/** A set of marks, as bits. */
export type Marks = number;

export type Inline =
  | { kind: "text"; text: string; marks: Marks }
  | { kind: "code"; text: string; marks: Marks }
  | { kind: "link"; url: string; label: readonly Inline[]; marks: Marks }
  | { kind: "image"; url: string; alt: string; marks: Marks }
  /** Written `[Anna](mention:ID)`. It calls the person only when the caller allows that id; else it is the label. */
  | { kind: "mention"; id: string; label: string; marks: Marks }
  /** Soft: the line end of the source. An answer shows it; in a file it is where the writer's editor wrapped. */
  | { kind: "break"; soft?: true; marks: Marks };

export interface ListItem {
  /** Set for a task: done or not. */
  task?: boolean;
  blocks: readonly Block[];
}

export type Align = "left" | "right" | "center";
export type Cell = readonly Inline[];

export type Block =
  | { kind: "paragraph"; inlines: readonly Inline[] }
  | { kind: "heading"; level: number; inlines: readonly Inline[] }
  | { kind: "quote"; blocks: readonly Block[] }
  | { kind: "list"; ordered: boolean; start: number; loose: boolean; items: readonly ListItem[] }
  | { kind: "fence"; lang: string; text: string }
  | { kind: "table"; align: readonly Align[]; head: readonly Cell[]; rows: readonly (readonly Cell[])[] }
  | { kind: "rule" };

export interface Tree {
  blocks: readonly Block[];
}

/**
 * What may never reach a platform: control codes (a CR would start an IRC command, an ESC a terminal's), halves of characters,
 * noncharacters (`signal` uses some as its own marks), and the bidi characters that show a text in another order than it has.
 */
const FORBIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Nothing `clean` would change. Nearly every short text is of this kind, and `clean` is called for each of them. */
const PLAIN = /^[\n -~]*$/;

/** Line ends become `\n`; what may not be shown goes. */
export function clean(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n").replace(FORBIDDEN, "");
}

/** The words of the spans, without their marks. */
export function plainText(inlines: readonly Inline[]): string {
  return inlines.map(spanText).join("");
}

function spanText(span: Inline): string {
  switch (span.kind) {
    case "text":
    case "code":
      return span.text;
    case "link":
      return plainText(span.label);
    case "image":
      return span.alt;
    case "mention":
      return span.label;
    case "break":
      return "\n";
    default:
      return assertNever(span);
  }
}
