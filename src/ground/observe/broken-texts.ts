/**
 * Encoded secrets that a program broke into lines or groups: `base64` after 76 letters, `xxd` and `od -tx1` with blanks, offsets
 * and a column of plain letters, fingerprints with colons. What stands between is left out of a copy of the text, the copy is
 * searched in one pass, and what was found goes from the original with all that stands in between.
 */
import { KnownTexts } from "./known-texts.ts";

/** A line of a hex dump: its offset, its bytes, and the same bytes as letters. `od -Ax` has six digits, `od -An` only the blank. */
const OFFSET = /^(?:[0-9a-f]{7,8}:? {1,2}(?=[0-9a-f]{2})|(?:[0-9a-f]{6})? (?=[0-9a-f]{2}(?: |$)))/i;
/** Dumps put two blanks or more before the letters; between bytes there is one, and once two in the middle (`hexdump -C`). */
const GUTTER = / {2,}(?![0-9a-f]{2}(?: |$))/i;
/** Lines of dumps are short; in longer ones nobody looks for columns. */
const LONGEST_DUMP_LINE = 200;

interface Copy {
  text: string;
  /** For each letter of the copy, where it stands in the original. */
  places: Uint32Array;
}

export class BrokenTexts {
  private readonly letters = new KnownTexts();
  private readonly hex = new KnownTexts();
  private isEmpty = true;

  add({ letters, hex }: { letters: readonly string[]; hex: readonly string[] }): void {
    for (const form of letters) this.letters.add(form);
    for (const form of hex) this.hex.add(form);
    this.isEmpty &&= letters.length + hex.length === 0;
  }

  replace(text: string, by: string): string {
    if (this.isEmpty || !/[\s:,\\-]/.test(text)) return text;
    const unwrapped = without(text, this.letters, decodeLetters, by);
    return without(unwrapped, this.hex, decodeHex, by);
  }
}

function without(text: string, known: KnownTexts, decode: (text: string) => Copy, by: string): string {
  const copy = decode(text);
  const spans = known.find(copy.text);
  if (spans.length === 0) return text;
  let out = "";
  let from = 0;
  for (const [start, end] of spans) {
    const first = copy.places[start]!;
    if (first < from) continue;
    out += text.slice(from, first) + by;
    from = decode === decodeHex ? endOfDump(text, copy.places[end - 1]! + 1) : copy.places[end - 1]! + 1;
  }
  return out + text.slice(from);
}

/** The text without blanks and line ends, also as JSON writes them. */
function decodeLetters(text: string): Copy {
  const places = new Uint32Array(text.length);
  let out = "";
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === " " || letter === "\n" || letter === "\r" || letter === "\t") continue;
    if (letter === "\\" && isEscapedBlank(text[at + 1])) {
      at++;
      continue;
    }
    places[count++] = at;
    out += letter;
  }
  return { text: out, places };
}

function isEscapedBlank(letter: string | undefined): boolean {
  return letter === "n" || letter === "r" || letter === "t";
}

/** The hex digits of a text in small letters, without what dumps and fingerprints put around and between them. */
function decodeHex(text: string): Copy {
  const places = new Uint32Array(text.length);
  let out = "";
  let count = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    const [from, to] = bytesIn(text, start, end);
    for (let at = from; at < to; at++) {
      const letter = text[at]!;
      if (" :,-\r\t".includes(letter)) continue;
      // `0x41` and `\x41`.
      if ((letter === "0" || letter === "\\") && text[at + 1] === "x") {
        at++;
        continue;
      }
      places[count++] = at;
      out += letter >= "A" && letter <= "F" ? letter.toLowerCase() : letter;
    }
    start = end + 1;
  }
  return { text: out, places };
}

/** Where the bytes of a line stand: all of it, unless it is a line of a dump. */
function bytesIn(text: string, start: number, end: number): [from: number, to: number] {
  if (end - start > LONGEST_DUMP_LINE) return [start, end];
  const line = text.slice(start, end);
  const offset = OFFSET.exec(line)?.[0].length ?? 0;
  if (offset === 0) return [start, end];
  const gutter = GUTTER.exec(line.slice(offset));
  return [start + offset, gutter ? start + offset + gutter.index : end];
}

/** Behind the last byte of a dump its letters follow: they go too. */
function endOfDump(text: string, at: number): number {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const newline = text.indexOf("\n", at);
  const end = newline < 0 ? text.length : newline;
  const [from] = bytesIn(text, start, end);
  return from === start ? at : end;
}
