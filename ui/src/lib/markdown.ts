/**
 * Model and tool text as markdown, safely. Raw HTML is shown as the text it is, pictures become links, and what marked makes
 * goes through DOMPurify with a short list of allowed tags.
 *
 * UI-5: the parser recurses and is slow on some texts, so a text that nests deeper or has longer words than people write is
 * shown as it is, without being parsed.
 * UI-4: a finished block is never parsed again: only the last block of a growing text is.
 */
import DOMPurify from "dompurify";
import { Marked, type MarkedExtension, type Token, type Tokens } from "marked";

export type Block = { kind: "html"; html: string; wide: boolean } | { kind: "code"; lang: string; text: string };

const SAFE = /^(https?:|mailto:)/i;
const asText = (text: string): string =>
  text.replace(/[&<>"']/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[c]!);

const RULES: MarkedExtension = {
  gfm: true,
  async: false,
  renderer: {
    html: ({ text }) => asText(text),
    image: ({ href, text }) =>
      SAFE.test(href) ? `<a href="${asText(href)}">${asText(text || href)}</a>` : asText(text),
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
};
/** In a chat a line end is a line end; in a file it is where the writer's editor wrapped. */
const chat = new Marked({ ...RULES, breaks: true });
const file = new Marked({ ...RULES, breaks: false });

const purify = DOMPurify(window);
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  const href = node.getAttribute("href") ?? "";
  // Only what is clearly outside: a link of a model must not steer this page.
  if (!SAFE.test(href)) return node.removeAttribute("href");
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

const TAGS =
  "p br hr strong em del s code pre a ul ol li blockquote h1 h2 h3 h4 h5 h6 table thead tbody tr th td sup sub".split(
    " ",
  );

function clean(html: string): string {
  return purify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "start", "align"],
    ALLOWED_URI_REGEXP: SAFE,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}

function toBlock(marked: Marked, token: Token): Block | undefined {
  if (token.type === "space" || token.type === "def") return undefined;
  if (token.type === "code") {
    const { lang, text } = token as Tokens.Code;
    return { kind: "code", lang: (lang ?? "").split(/\s/)[0] ?? "", text };
  }
  return { kind: "html", html: clean(marked.parser([token])), wide: token.type === "table" };
}

const MOST_LETTERS = 100_000;
/** Longer than any word or address people read; the parser takes quadratic time on some long words. */
const LONGEST_WORD = 2_000;
const DEEPEST = 20;
/** Lines without an empty one between them, code aside: some such blocks take the parser quadratic time. */
const LONGEST_BLOCK = 20_000;

/** Whether the text is worth parsing (UI-5). One pass. */
export function isReadable(text: string): boolean {
  if (text.length > MOST_LETTERS || hasLongBlock(text)) return false;
  let [word, blanks, markers] = [0, 0, 0];
  let isLineStart = true;
  for (const letter of text) {
    const isBlank = letter === " " || letter === "\n" || letter === "\t";
    word = isBlank ? 0 : word + 1;
    blanks = isBlank ? blanks + 1 : 0;
    if (blanks > LONGEST_WORD) return false;
    if (letter === "\n") [markers, isLineStart] = [0, true];
    else if (isLineStart && ">-*+.)".includes(letter)) markers++;
    else if (!isBlank && (letter < "0" || letter > "9")) isLineStart = false;
    if (word > LONGEST_WORD || (isLineStart && markers > DEEPEST && !isRule(letter, word))) return false;
  }
  return true;
}

function hasLongBlock(text: string): boolean {
  let length = 0;
  let fence = "";
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== "") {
      if (mark?.startsWith(fence)) fence = "";
      continue;
    }
    if (mark && !line.trimStart().slice(mark.length).includes("`")) [fence, length] = [mark, 0];
    length = line.trim() === "" ? 0 : length + line.length + 1;
    if (length > LONGEST_BLOCK) return true;
  }
  return false;
}

/** A line such as `-----` or `*****` is one word and nests nothing. */
function isRule(letter: string, word: number): boolean {
  return letter !== ">" && word > DEEPEST;
}

/** A text that grows at its end, as blocks. */
export class Growing {
  private source = "";
  private frozenTo = 0;
  private readonly frozen: Block[] = [];
  private readonly marked: Marked;

  constructor(kind: "chat" | "file" = "chat") {
    this.marked = kind === "chat" ? chat : file;
  }

  /** The blocks of `text`. When it only grew since the last call, finished blocks are the same objects as before. */
  read(given: string): Block[] {
    // The lexer counts in plain line ends.
    const text = given.replace(/\r\n?/g, "\n");
    if (!text.startsWith(this.source)) {
      this.frozen.length = 0;
      this.frozenTo = 0;
    }
    this.source = text;
    if (!isReadable(text)) return this.plain(text);
    const tokens = this.marked.lexer(text.slice(this.frozenTo));
    const last = tokens.findLastIndex((token) => token.type !== "space");
    for (const token of tokens.slice(0, Math.max(0, last))) {
      const block = toBlock(this.marked, token);
      if (block) this.frozen.push(block);
      this.frozenTo += token.raw.length;
    }
    const tail = last >= 0 ? toBlock(this.marked, tokens[last]!) : undefined;
    return tail ? [...this.frozen, tail] : [...this.frozen];
  }

  /** From here on the text starts over, should it ever become readable. */
  private plain(text: string): Block[] {
    this.frozen.length = 0;
    this.frozenTo = 0;
    return [{ kind: "code", lang: "", text }];
  }
}
