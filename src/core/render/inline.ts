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
  const pieces: Piece[] = [];
  const brackets: { at: number; image: boolean }[] = [];
  const closers = codeClosers(text);
  let plain = "";
  let i = 0;

  const flush = () => {
    if (plain) pieces.push({ kind: "text", text: plain, marks: 0 });
    plain = "";
  };

  while (i < text.length) {
    const sign = text[i]!;
    if (sign === "\\") {
      const next = text[i + 1];
      if (next === "\n") {
        flush();
        pieces.push({ kind: "break", marks: 0 });
      } else if (next !== undefined && ESCAPABLE.test(next)) plain += next;
      else {
        plain += sign;
        i--;
      }
      i += 2;
    } else if (sign === "\n") {
      flush();
      pieces.push({ kind: "break", soft: true, marks: 0 });
      i++;
    } else if (sign === "`") {
      const run = runLength(text, i);
      const close = closers.get(i);
      if (close === undefined) plain += "`".repeat(run);
      else {
        flush();
        pieces.push({ kind: "code", text: codeText(text.slice(i + run, close)), marks: 0 });
      }
      i = (close ?? i) + run;
    } else if (sign === "<") {
      ANGLE.lastIndex = i;
      const found = ANGLE.exec(text);
      if (found) {
        flush();
        if (found[1]) pieces.push(autolink(found[1]));
        else pieces.push({ kind: "break", marks: 0 });
      } else plain += sign;
      i += found ? found[0].length : 1;
    } else if (sign === "&") {
      ENTITY.lastIndex = i;
      const found = ENTITY.exec(text);
      plain += found ? ENTITIES[found[1]!] : sign;
      i += found ? found[0].length : 1;
    } else if ((sign === "h" || sign === "H") && !/[\p{L}\p{N}]/u.test(text[i - 1] ?? " ")) {
      const url = urlAt(text, i);
      if (url) {
        flush();
        pieces.push(autolink(url));
      } else plain += sign;
      i += url ? url.length : 1;
    } else if (sign === "[" || (sign === "!" && text[i + 1] === "[")) {
      const image = sign === "!";
      const shown = image ? "![" : "[";
      if (brackets.length < MOST_BRACKETS) {
        flush();
        brackets.push({ at: pieces.length, image });
        pieces.push({ kind: "text", text: shown, marks: 0 });
      } else plain += shown;
      i += shown.length;
    } else if (sign === "]") {
      const open = brackets.pop();
      const target = open && text[i + 1] === "(" ? targetAt(text, i + 2) : undefined;
      if (open && target) {
        flush();
        const label = withMarks(pieces.splice(open.at).slice(1));
        pieces.push(linked(open.image, target.url, label));
        // No link in a link: what was open before this one is text.
        if (!open.image) for (const b of brackets.splice(0)) if (b.image) brackets.push(b);
        i = target.end;
      } else {
        plain += sign;
        i++;
      }
    } else if (sign === "*" || sign === "_" || sign === "~") {
      flush();
      const count = runLength(text, i);
      pieces.push(delimiter(text, i, count));
      i += count;
    } else {
      plain += sign;
      i++;
    }
  }
  flush();
  return merged(trimmedLines(withMarks(pieces)));
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
      // Openers of other characters behind this one are not closed any more: pairs do not overlap.
      if (piece.sign === "~" && (left[opener]! < 2 || left[at]! < 2)) break;
      const threes = (piece.opens || other.closes) && (piece.count + other.count) % 3 === 0 && piece.sign !== "~";
      if (threes && (piece.count % 3 !== 0 || other.count % 3 !== 0)) break;
      while (open.at(-1) !== opener) stacks[(pieces[open.pop()!] as { sign: string }).sign]!.pop();
      const use = left[opener]! >= 2 && left[at]! >= 2 ? 2 : 1;
      const mark = piece.sign === "~" ? STRIKE : use === 2 ? STRONG : EM;
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

  const [strong, em, strike] = [counter(STRONG), counter(EM), counter(STRIKE)];
  const count = (marks: readonly Marks[] | undefined, by: number) => {
    for (const mark of marks ?? []) (mark === STRONG ? strong : mark === EM ? em : strike).open += by;
  };
  const spans: Inline[] = [];
  for (const [at, piece] of pieces.entries()) {
    count(ends[at], -1);
    const marks = bits(strong) | bits(em) | bits(strike);
    if (piece.kind !== "delimiter") {
      const isSame = piece.kind === "break" || (piece.marks | marks) === piece.marks;
      spans.push(isSame ? piece : { ...piece, marks: piece.marks | marks });
    } else if (left[at]! > 0) spans.push({ kind: "text", text: piece.sign.repeat(left[at]!), marks });
    count(starts[at], 1);
  }
  return spans;
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
