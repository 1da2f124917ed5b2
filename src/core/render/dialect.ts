/** How one platform writes each node of the tree: a table the walker (`write.ts`) reads, never a separate walker. */
import type { Align } from "./tree.ts";

export const DIALECTS = [
  "plain",
  "commonmark",
  "telegram",
  "slack",
  "discord",
  "whatsapp",
  "matrix",
  "mattermost",
  "email",
  "xmpp",
  "signal",
  "irc",
  "teams",
  "nostr",
] as const;
export type DialectName = (typeof DIALECTS)[number];

export type Unit = "utf16" | "bytes" | "codepoints";

/** One message as the platform takes it. */
export interface Part {
  /** What is sent; where there is `html`, the same words without it (alternative body, or fall-back when HTML is refused). */
  text: string;
  html?: string;
  /** Signal's text styles, in UTF-16 units of `text`. */
  styles?: readonly Style[];
}

export interface Style {
  style: "BOLD" | "ITALIC" | "STRIKETHROUGH" | "MONOSPACE";
  start: number;
  length: number;
}

export type Pair = readonly [open: string, close: string];

export interface Dialect {
  name: DialectName;
  /** Text so that it is text there: no mark, tag, mention or command. `lineStart`: nothing stands before it on its line. */
  escape(text: string, lineStart: boolean): string;
  strong: Pair;
  em: Pair;
  strike: Pair;
  /**
   * Where a mark may stand. `anywhere`: tags. `flanking`: CommonMark's rule, also inside words. `words`: only around whole
   * words; `behind-blanks`: and only behind a blank. Elsewhere the mark is left out rather than shown as a sign.
   */
  marksStand: "anywhere" | "flanking" | "words" | "behind-blanks";
  /** False when code cannot be bold there. */
  marksOnCode: boolean;
  code(text: string): string;
  /** A named link. Without it the words are followed by the target. `label` is written already. */
  link?(label: string, url: string): string;
  /** Targets that would call somebody there: shown as text. */
  calls?: RegExp;
  /** The target shown as itself. */
  url(url: string): string;
  mention?: { id: RegExp; write(id: string, label: string): string };
  /** Without it a heading is a bold line. */
  heading?(inner: string, level: number): string;
  paragraph(inner: string): string;
  quote(inner: string): string;
  /** False when a quote cannot hold code or a quote: code is moved out of it, an inner quote becomes part of the outer. */
  quotesNest: boolean;
  fence(text: string, lang: string): string;
  rule: string;
  lineBreak: string;
  /** Between blocks. */
  gap: string;
  list: {
    marker(at: { number: number | undefined; task: boolean | undefined }): string;
    /** Blocks of one item. `isFlush`: code and quotes, which must begin at the line's start where lists are only text. */
    item(marker: string, blocks: readonly { text: string; isFlush: boolean }[], gap: string): string;
    wrap(items: readonly string[], ordered: boolean, start: number): string;
  };
  /** A real table. Without it, or when it does not fit: an aligned code block, or "name: value" lists. */
  table?(head: readonly string[], rows: readonly (readonly string[])[], align: readonly Align[]): string;
  /** The widest aligned table that still reads well there, in columns; 0: never. */
  tableWidth: number;
  /** From the written text to what is sent. `plain` gives the same content in the plain dialect. */
  finish(written: string, plain: () => string): Part;
  /** What the limit counts. */
  counts: "text" | "html" | "both";
  /** Most formatted stretches in one message, counted by `entities`. */
  mostEntities?: number;
  /** A message is one line. */
  oneLine?: boolean;
  /** The usual limit; the adapter knows better. */
  limit: { limit: number; unit: Unit };
}

// ── words shared by the tables ──────────────────────────────────────────────────────────────────────────────────────

const NONE: Pair = ["", ""];
/** Splits what a platform would read as one word, without being seen. */
export const ZERO = "\u200b";

const pass = (inner: string): string => inner;
const indented = (text: string, by: string): string => text.replaceAll("\n", `\n${by}`);

/** Every line behind `sign`. */
export const quoted =
  (sign: string) =>
  (inner: string): string =>
    `${sign}${indented(inner, sign)}`;

const bulletOrTask = (bullet: string): Dialect["list"]["marker"] => {
  return ({ number, task }) => {
    const before = number === undefined ? "" : `${number}. `;
    if (task !== undefined) return `${before}${task ? "☑" : "☐"} `;
    return before || bullet;
  };
};

/** Lists as lines of text. Code and quotes begin at the line's start, else they are none. */
const lineList = (bullet: string): Dialect["list"] => ({
  marker: bulletOrTask(bullet),
  item: (marker, blocks, gap) => {
    const lines = blocks.map(({ text, isFlush }, at) => {
      if (at === 0) return isFlush ? `\n${text}` : indented(text, "  ");
      return isFlush ? text : quoted("  ")(text);
    });
    return `${marker}${lines.join(gap)}`;
  },
  wrap: (items) => items.join("\n"),
});

/** What all dialects of lines of text have in common: the plain one. */
export const LINES = {
  escape: pass,
  strong: NONE,
  em: NONE,
  strike: NONE,
  marksStand: "words",
  marksOnCode: true,
  code: pass,
  url: pass,
  paragraph: pass,
  quote: quoted("> "),
  quotesNest: true,
  fence: pass,
  rule: "———",
  lineBreak: "\n",
  gap: "\n\n",
  list: lineList("• "),
  tableWidth: 0,
  finish: (written: string): Part => ({ text: written }),
  counts: "text",
} as const satisfies Partial<Dialect>;

/** Three backticks inside code would end the fence: an unseen sign between them. */
export const unfenced = (code: string): string => code.replaceAll("```", `\`\`${ZERO}\``);

/** An `@` that could call somebody: before a word, and not inside an address like a@b.example. */
export const uncalled = (text: string): string => text.replace(/(?<![\w.+-])@(?=[\p{L}\p{N}_!&]|$)/gu, `@${ZERO}`);
