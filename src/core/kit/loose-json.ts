/**
 * JSON as people edit it (JSON5): comments, commas at the end, names without quotes, single quotes. Read in one pass and to a
 * bounded depth: the text is somebody else's.
 */
import { parseJson, TooDeep } from "./json-depth.ts";

/** Settings written by hand are far smaller. */
const LONGEST_LOOSE = 4 * 1024 * 1024;
const DEEPEST = 200;

/** Undefined when it is not even that. */
export function looseJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (text.length > LONGEST_LOOSE || error instanceof TooDeep) return undefined;
    return new LooseReader(text).whole();
  }
}

/** Hexadecimal digits behind a backslash and this letter. */
const DIGITS: Readonly<Record<string, number>> = { u: 4, x: 2 };

class NotJson extends Error {}

const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "0": "\0" };
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

class LooseReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    try {
      const value = this.#value(0);
      this.#blank();
      return this.#at === this.#text.length ? value : undefined;
    } catch (error) {
      if (error instanceof NotJson) return undefined;
      throw error;
    }
  }

  #value(depth: number): unknown {
    this.#blank();
    const sign = this.#text[this.#at];
    if (depth > DEEPEST) throw new NotJson();
    if (sign === "{") return this.#object(depth);
    if (sign === "[") return this.#list(depth);
    if (sign === '"' || sign === "'") return this.#string();
    const word = this.#word();
    if (WORDS.has(word)) return WORDS.get(word);
    const number = Number(word.replace(/^\+/, ""));
    if (word === "" || Number.isNaN(number)) throw new NotJson();
    return number;
  }

  #object(depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    this.#at++;
    while (!this.#took("}")) {
      const quoted = this.#text[this.#at] === '"' || this.#text[this.#at] === "'";
      const name = quoted ? this.#string() : this.#word();
      if ((!quoted && name === "") || !this.#took(":")) throw new NotJson();
      entries.push([name, this.#value(depth + 1)]);
      if (!this.#took(",") && !this.#isNext("}")) throw new NotJson();
    }
    return Object.fromEntries(entries);
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = [];
    this.#at++;
    while (!this.#took("]")) {
      list.push(this.#value(depth + 1));
      if (!this.#took(",") && !this.#isNext("]")) throw new NotJson();
    }
    return list;
  }

  #string(): string {
    const quote = this.#text[this.#at++]!;
    const parts: string[] = [];
    for (let from = this.#at; ; this.#at++) {
      const sign = this.#text[this.#at];
      if (sign === undefined || sign === "\n") throw new NotJson();
      if (sign !== quote && sign !== "\\") continue;
      parts.push(this.#text.slice(from, this.#at));
      if (sign === quote) {
        this.#at++;
        return parts.join("");
      }
      parts.push(this.#escaped());
      from = this.#at + 1;
    }
  }

  /** What stands behind a backslash; the place is then on its last character. */
  #escaped(): string {
    const sign = this.#text[++this.#at] ?? "";
    const digits = DIGITS[sign] ?? 0;
    if (digits > 0) {
      const code = this.#text.slice(this.#at + 1, this.#at + 1 + digits);
      if (code.length < digits || !/^[0-9a-f]+$/i.test(code)) throw new NotJson();
      this.#at += digits;
      return String.fromCharCode(Number.parseInt(code, 16));
    }
    if (sign === "\r" && this.#text[this.#at + 1] === "\n") this.#at++;
    return sign === "\n" || sign === "\r" ? "" : (ESCAPES[sign] ?? sign);
  }

  /** A name or a number: up to a blank or a sign of the notation. */
  #word(): string {
    const from = this.#at;
    while (this.#at < this.#text.length && !/[\s,:{}[\]"'/\\]/.test(this.#text[this.#at]!)) this.#at++;
    return this.#text.slice(from, this.#at);
  }

  #took(sign: string): boolean {
    if (!this.#isNext(sign)) return false;
    this.#at++;
    this.#blank();
    return true;
  }

  #isNext(sign: string): boolean {
    this.#blank();
    return this.#text[this.#at] === sign;
  }

  /** Blanks and comments. A comment that never ends goes to the end of the text. */
  #blank(): void {
    for (;;) {
      while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
      const isLine = this.#text.startsWith("//", this.#at);
      if (!isLine && !this.#text.startsWith("/*", this.#at)) return;
      const end = isLine ? this.#text.indexOf("\n", this.#at) : this.#text.indexOf("*/", this.#at + 2);
      this.#at = end < 0 ? this.#text.length : end + (isLine ? 1 : 2);
    }
  }
}
