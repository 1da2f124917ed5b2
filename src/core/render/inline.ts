/**
 * Words of one block → flat spans with marks: code, links, emphasis by CommonMark's delimiter rules. Each sign is looked at a
 * bounded number of times, whatever the text: the words come from a model, and behind it from anybody.
 */
import { EM, type Inline, type Marks, plainText, STRIKE, STRONG } from "./tree.ts";

/** Longer targets than this are text: no platform takes them, and the search for their end stays bounded. */
const LONGEST_URL = 2048;
/** More open brackets than this are text. */
const MOST_BRACKETS = 200;

const PUNCTUATION = /[\p{P}\p{S}]/u;
const ESCAPABLE = /[!-/:-@[-`{-~]/;
const URL_START = /https?:\/\/[^\s<>"`|\\^{}[\]]+/iy;
const ANGLE = /<((?:https?:\/\/|mailto:)[^\s<>"`|\\]{1,2048})>|<br ?\/?>/iy;
const ENTITY = /&(amp|lt|gt|quot|nbsp|#39);/y;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " ", "#39": "'" };

type Piece = Inline | { kind: "delimiter"; sign: string; count: number; opens: boolean; closes: boolean };

/** What could be more than plain words. */
const TELLING = /[\\\n`<&[\]*_~]|https?:/i;

export function parseInline(text: string): Inline[] {
  if (!TELLING.test(text)) {
    const words = text.replaceAll("\t", " ").trim();
    return words === "" ? [] : [{ kind: "text", text: words, marks: 0 }];
  }
  return merged(trimmedLines(withMarks(new Scanner(text).scan())));
}

/** Goes over a text once. Each of its readers takes what stands at `at` and moves `at` behind it. */
class Scanner {
  readonly #text: string;
  readonly #pieces: Piece[] = [];
  readonly #brackets: { at: number; image: boolean }[] = [];
  readonly #closers: ReadonlyMap<number, number>;
  /** Plain words that no piece holds yet. */
  #plain = "";
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#closers = codeClosers(text);
  }

  scan(): Piece[] {
    while (this.#at < this.#text.length) this.#readOne(this.#text[this.#at]!);
    this.#flush();
    return this.#pieces;
  }

  #readOne(sign: string): void {
    switch (sign) {
      case "\\":
        this.#readEscape();
        break;
      case "\n":
        this.#put({ kind: "break", soft: true, marks: 0 }, 1);
        break;
      case "`":
        this.#readCode();
        break;
      case "<":
        this.#readAngle();
        break;
      case "&":
        this.#readEntity();
        break;
      case "h":
      case "H":
        this.#readAddress(sign);
        break;
      case "[":
        this.#openBracket("[");
        break;
      case "!":
        if (this.#text[this.#at + 1] === "[") this.#openBracket("![");
        else this.#say(sign);
        break;
      case "]":
        this.#closeBracket();
        break;
      case "*":
      case "_":
      case "~": {
        const count = runLength(this.#text, this.#at);
        this.#put(delimiter(this.#text, this.#at, count), count);
        break;
      }
      default:
        this.#say(sign);
        break;
    }
  }

  /** `length`: how much of the text the words stand for. */
  #say(words: string, length = words.length): void {
    this.#plain += words;
    this.#at += length;
  }

  #put(piece: Piece, length: number): void {
    this.#flush();
    this.#pieces.push(piece);
    this.#at += length;
  }

  #flush(): void {
    if (this.#plain) this.#pieces.push({ kind: "text", text: this.#plain, marks: 0 });
    this.#plain = "";
  }

  #readEscape(): void {
    const next = this.#text[this.#at + 1];
    if (next === "\n") this.#put({ kind: "break", marks: 0 }, 2);
    else if (next !== undefined && ESCAPABLE.test(next)) this.#say(next, 2);
    else this.#say("\\");
  }

  #readCode(): void {
    const from = this.#at;
    const run = runLength(this.#text, from);
    const close = this.#closers.get(from);
    if (close === undefined) {
      this.#say("`".repeat(run));
      return;
    }
    const text = codeText(this.#text.slice(from + run, close));
    this.#put({ kind: "code", text, marks: 0 }, close + run - from);
  }

  #readAngle(): void {
    ANGLE.lastIndex = this.#at;
    const found = ANGLE.exec(this.#text);
    if (found) this.#put(found[1] ? autolink(found[1]) : { kind: "break", marks: 0 }, found[0].length);
    else this.#say("<");
  }

  #readEntity(): void {
    ENTITY.lastIndex = this.#at;
    const found = ENTITY.exec(this.#text);
    if (found) this.#say(ENTITIES[found[1]!]!, found[0].length);
    else this.#say("&");
  }

  #readAddress(sign: string): void {
    const isInWord = /[\p{L}\p{N}]/u.test(this.#text[this.#at - 1] ?? " ");
    const url = isInWord ? undefined : urlAt(this.#text, this.#at);
    if (url) this.#put(autolink(url), url.length);
    else this.#say(sign);
  }

  #openBracket(shown: "[" | "!["): void {
    if (this.#brackets.length >= MOST_BRACKETS) {
      this.#say(shown);
      return;
    }
    this.#flush();
    this.#brackets.push({ at: this.#pieces.length, image: shown === "![" });
    this.#put({ kind: "text", text: shown, marks: 0 }, shown.length);
  }

  #closeBracket(): void {
    const brackets = this.#brackets;
    const open = brackets.pop();
    const target = open && this.#text[this.#at + 1] === "(" ? targetAt(this.#text, this.#at + 2) : undefined;
    if (!open || !target) {
      this.#say("]");
      return;
    }
    this.#flush();
    const label = withMarks(this.#pieces.splice(open.at).slice(1));
    this.#put(linked(open.image, target.url, label), target.end - this.#at);
    // No link in a link: what was open before this one is text.
    if (!open.image) for (const b of brackets.splice(0)) if (b.image) brackets.push(b);
  }
}

/** For each run of backticks that opens a code span, where the closing run starts. */
function codeClosers(text: string): Map<number, number> {
  const closers = new Map<number, number>();
  const next = new Map<number, number>();
  const runs = [...text.matchAll(/`+/g)].reverse();
  for (const run of runs) {
    const close = next.get(run[0].length);
    if (close !== undefined) closers.set(run.index, close);
    next.set(run[0].length, run.index);
  }
  return closers;
}

function codeText(inner: string): string {
  const line = inner.replaceAll("\n", " ");
  return line.startsWith(" ") && line.endsWith(" ") && line.trim() !== "" ? line.slice(1, -1) : line;
}

function runLength(text: string, from: number): number {
  let end = from + 1;
  while (text[end] === text[from]) end++;
  return end - from;
}

function autolink(url: string): Inline {
  return { kind: "link", url, label: [{ kind: "text", text: url.replace(/^mailto:/i, ""), marks: 0 }], marks: 0 };
}

/** A bare address without the sentence's own punctuation behind it. */
function urlAt(text: string, from: number): string | undefined {
  URL_START.lastIndex = from;
  let url = URL_START.exec(text)?.[0].slice(0, LONGEST_URL);
  if (!url) return undefined;
  for (;;) {
    const last = url.at(-1)!;
    const unbalanced = last === ")" && url.split(")").length > url.split("(").length;
    if (!/[.,:;!?'*_~\]]/.test(last) && !unbalanced) break;
    url = url.slice(0, -1);
  }
  return /^https?:\/\/[\p{L}\p{N}[]/iu.test(url) ? url : undefined;
}

/** `url "title")` → the url and the index behind the bracket. The title is not shown anywhere, so it goes. */
function targetAt(text: string, from: number): { url: string; end: number } | undefined {
  const rest = text.slice(from, from + LONGEST_URL + 200);
  const angle = /^<([^<>\n]*)>/.exec(rest);
  let end = angle ? angle[0].length : 0;
  if (!angle) {
    let depth = 0;
    for (; end < rest.length; end++) {
      const sign = rest[end]!;
      // CommonMark asks for three; more than eight is no address, and the bound keeps `[a](` a thousand times cheap.
      if (sign === "(" && ++depth > 8) return undefined;
      if (sign === ")" && depth-- === 0) break;
      if (sign === " " || sign === "\n" || sign === "\t") break;
    }
  }
  const url = angle ? angle[1]! : rest.slice(0, end);
  const close = /^\s*(?:(?:"[^"\n]*"|'[^'\n]*')\s*)?\)/.exec(rest.slice(end));
  if (!close || url.length > LONGEST_URL) return undefined;
  return { url, end: from + end + close[0].length };
}

function linked(image: boolean, url: string, label: Inline[]): Inline {
  if (image) return { kind: "image", url, alt: plainText(label), marks: 0 };
  if (url.startsWith("mention:")) {
    return { kind: "mention", id: url.slice("mention:".length), label: plainText(label), marks: 0 };
  }
  // A picture or an address in a link is its words: no platform has both.
  const words = label.map(
    (span): Inline =>
      span.kind === "image" || span.kind === "link" || span.kind === "mention"
        ? { kind: "text", text: plainText([span]), marks: span.marks }
        : span,
  );
  return { kind: "link", url, label: merged(words.filter((span) => span.kind !== "break")), marks: 0 };
}

/** Letters, digits and the plain blank are most of what stands there, and need no expression. */
const isWordLike = (sign: string) =>
  (sign >= "a" && sign <= "z") || (sign >= "A" && sign <= "Z") || (sign >= "0" && sign <= "9");
const isSpace = (sign: string) => sign === " " || (!isWordLike(sign) && /\s/.test(sign));
const isSign = (sign: string) => sign !== " " && !isWordLike(sign) && PUNCTUATION.test(sign);

function delimiter(text: string, at: number, count: number): Piece {
  const sign = text[at]!;
  const before = at === 0 ? " " : text[at - 1]!;
  const after = text[at + count] ?? " ";
  const [blankBefore, blankAfter] = [isSpace(before), isSpace(after)];
  const [signBefore, signAfter] = [isSign(before), isSign(after)];
  const left = !blankAfter && (!signAfter || blankBefore || signBefore);
  const right = !blankBefore && (!signBefore || blankAfter || signAfter);
  const inWord = sign === "_";
  return {
    kind: "delimiter",
    sign,
    count,
    opens: left && (!inWord || !right || signBefore),
    closes: right && (!inWord || !left || signAfter),
  };
}

/** Pairs the delimiters (CommonMark's rules, without a nested tree) and adds their marks to the spans between. */
function withMarks(pieces: readonly Piece[]): Inline[] {
  const starts: Marks[][] = [];
  const ends: Marks[][] = [];
  const left = pieces.map((piece) => (piece.kind === "delimiter" ? piece.count : 0));
  const stacks: Record<string, number[]> = { "*": [], _: [], "~": [] };
  const open: number[] = [];
  pieces.forEach((piece, at) => {
    if (piece.kind !== "delimiter") return;
    const stack = stacks[piece.sign]!;
    while (piece.closes && left[at]! > 0 && stack.length > 0) {
      const opener = stack.at(-1)!;
      const other = pieces[opener] as Extract<Piece, { kind: "delimiter" }>;
      // Later openers of other characters can no longer be closed: pairs don't overlap.
      if (piece.sign === "~" && (left[opener]! < 2 || left[at]! < 2)) break;
      const threes = (piece.opens || other.closes) && (piece.count + other.count) % 3 === 0 && piece.sign !== "~";
      if (threes && (piece.count % 3 !== 0 || other.count % 3 !== 0)) break;
      while (open.at(-1) !== opener) stacks[(pieces[open.pop()!] as { sign: string }).sign]!.pop();
      const use = left[opener]! >= 2 && left[at]! >= 2 ? 2 : 1;
      const mark = markFor(piece.sign, use);
      starts[opener] ??= [];
      starts[opener].push(mark);
      ends[at] ??= [];
      ends[at].push(mark);
      left[opener]! -= use;
      left[at]! -= use;
      if (left[opener] === 0) {
        stack.pop();
        open.pop();
      }
    }
    if (piece.opens && left[at]! > 0) {
      stack.push(at);
      open.push(at);
    }
  });

  const counters = [counter(STRONG), counter(EM), counter(STRIKE)];
  const count = (marks: readonly Marks[] | undefined, by: number) => {
    for (const mark of marks ?? []) for (const one of counters) if (one.mark === mark) one.open += by;
  };
  const spans: Inline[] = [];
  for (const [at, piece] of pieces.entries()) {
    count(ends[at], -1);
    const marks = counters.reduce((all, one) => all | bits(one), 0);
    if (piece.kind !== "delimiter") {
      const isSame = piece.kind === "break" || (piece.marks | marks) === piece.marks;
      spans.push(isSame ? piece : { ...piece, marks: piece.marks | marks });
    } else if (left[at]! > 0) spans.push({ kind: "text", text: piece.sign.repeat(left[at]!), marks });
    count(starts[at], 1);
  }
  return spans;
}

function markFor(sign: string, count: 1 | 2): Marks {
  if (sign === "~") return STRIKE;
  return count === 2 ? STRONG : EM;
}

const counter = (mark: Marks) => ({ mark, open: 0 });
const bits = ({ mark, open }: { mark: Marks; open: number }): Marks => (open > 0 ? mark : 0);

/** Blanks around a line's end are not words. */
function trimmedLines(spans: Inline[]): Inline[] {
  return spans.map((span, at) => {
    if (span.kind !== "text") return span;
    let text = span.text.replaceAll("\t", " ");
    if (at === 0 || spans[at - 1]!.kind === "break") text = text.trimStart();
    if (at === spans.length - 1 || spans[at + 1]!.kind === "break") text = text.trimEnd();
    return text === span.text ? span : { ...span, text };
  });
}

/** Neighbours with the same marks are one span; empty ones go. */
function merged(spans: readonly Inline[]): Inline[] {
  const result: Inline[] = [];
  for (const span of spans) {
    const last = result.at(-1);
    if (span.kind === "text" && span.text === "") continue;
    if (span.kind === "text" && last?.kind === "text" && last.marks === span.marks) {
      result[result.length - 1] = { ...last, text: last.text + span.text };
    } else result.push(span);
  }
  return result;
}
