/**
 * Words of a shell text. A word is literal when our own small reader, which knows nothing but quotes and backslashes, and
 * the parser agree on what the program will get. Anything else has only a guess.
 *
 * SHELL-7: a literal word means the same to every POSIX shell, in every directory, at any time.
 */
import { forEachChild, type SyntaxNode, type Word } from "unbash";
import type { ShellWord } from "../../../../core/contracts/index.ts";
import { truthy } from "../../../../core/kit/index.ts";

/** Means itself, unquoted, anywhere in a word. */
const PLAIN = /^[\p{L}\p{N}\p{M}_./:=@%+,\]-]$/u;
/** `HEAD@{1}`, `stash@{0}`, `@{upstream}`: braces that no shell expands. */
const GIT_BRACE = /^@\{[A-Za-z0-9-]+\}/;

/** Variables as far as the text itself sets them. For guesses only. */
export type Variables = ReadonlyMap<string, string>;
const NONE: Variables = new Map();

export function readWord(word: Word, variables: Variables = NONE): ShellWord {
  const literal = readLiteral(word.text);
  const isLiteral = literal !== undefined && literal === word.value && !hasExpansion(word);
  return isLiteral ? { literal, guess: literal } : guessed(rawGuess(word, variables));
}

/** What one word of the text becomes: several, when it has braces, or a variable that is split at its blanks. */
export function readWords(word: Word, variables: Variables = NONE): ShellWord[] {
  const only = readWord(word, variables);
  const parts = word.parts ?? [];
  if (only.literal !== undefined || parts.length === 0) return [only];
  let raws = [""];
  for (const part of parts) {
    const texts = part.type === "BraceExpansion" ? alternatives(part.text) : [rawPart(part, variables)];
    if (raws.length * texts.length > MOST_ALTERNATIVES) return [only];
    raws = raws.flatMap((raw) => texts.map((text) => raw + text));
  }
  const isSplit = parts.every(({ type }) => type !== "DoubleQuoted" && type !== "SingleQuoted");
  if (isSplit) raws = raws.flatMap((raw) => (/\s/.test(raw) ? raw.split(/\s+/).filter(Boolean) : [raw]));
  return raws.length === 0 || raws.length > MOST_ALTERNATIVES ? [only] : raws.map(guessed);
}

const MOST_ALTERNATIVES = 64;
/** A value longer than this is no path; and values made of values grow without end. */
const LONGEST_VALUE = 256;
const LONGEST_GUESS = 16_384;
/** Stands for what is not known while a guess is put together; a pattern's star is another matter. */
const UNSEEN = "\uE000";

function guessed(raw: string): ShellWord {
  const isUnseen = raw.startsWith(UNSEEN) && /^[*?./]*$/.test(raw.replaceAll(UNSEEN, ""));
  return { guess: raw.replaceAll(UNSEEN, "*"), ...truthy({ isUnseen }) };
}

/** The value a variable gets, as a guess: what is worse stays, because the text may never reach the later one. */
export function setVariable(variables: Map<string, string>, name: string, value: ShellWord): void {
  const isFit = value.guess.length <= LONGEST_VALUE && !value.isUnseen;
  if (name === "IFS") splitAnew(variables, isFit ? value.guess : "*");
  const signs = variables.get("IFS") ?? "";
  const next = isFit && (name === "IFS" || !isSplitBy(signs, value.guess)) ? value.guess : UNSEEN;
  const before = variables.get(name);
  variables.set(name, before === undefined ? next : worse(before, next));
}

/** Another IFS takes values apart at other characters: `IFS=x; d=x/` makes `$d` a slash. */
function splitAnew(variables: Map<string, string>, signs: string): void {
  for (const [name, value] of variables) if (name !== "IFS" && isSplitBy(signs, value)) variables.set(name, UNSEEN);
}

/** Blanks are taken apart anyhow; a star stands for characters that are not known. */
function isSplitBy(signs: string, value: string): boolean {
  if (/[*\uE000]/.test(signs)) return !/^\/+$/.test(value);
  return [...signs].some((sign) => !/\s/.test(sign) && value.includes(sign));
}

function worse(a: string, b: string): string {
  const [left, right] = [danger(a), danger(b)];
  if (left !== right) return left > right ? a : b;
  return left === 2 && a.length < b.length ? a : b;
}

function danger(value: string): number {
  if (/^\/+$/.test(value)) return 3;
  if (/^[/~]/.test(value)) return 2;
  return value.includes(UNSEEN) ? 1 : 0;
}

/** `{a,b{c,d}}` as its pieces; what is more than a list of plain pieces is not known. */
function alternatives(text: string): string[] {
  const out: string[] = [];
  let [depth, from] = [0, 1];
  for (let i = 0; i < text.length; i++) {
    const sign = text[i];
    if (sign === "{") depth++;
    const isEnd = sign === "}" && depth-- === 1;
    if (!isEnd && !(sign === "," && depth === 1)) continue;
    out.push(text.slice(from, i).replace(/["'\\]/g, ""));
    from = i + 1;
  }
  if (out.length < 2 || out.some((one) => /[`$]/.test(one))) return ["*"];
  return out.flatMap((one) => {
    const inner = /^([^{]*)(\{[\s\S]*\})([^}]*)$/.exec(one);
    return inner ? alternatives(inner[2]!).map((middle) => inner[1]! + middle + inner[3]!) : [one];
  });
}

/** What the text of one word means, or undefined when that takes more than removing quotes. */
export function readLiteral(text: string): string | undefined {
  let out = "";
  for (let i = 0; i < text.length; ) {
    const sign = String.fromCodePoint(text.codePointAt(i)!);
    if (sign === "'") {
      const end = text.indexOf("'", i + 1);
      if (end < 0) return undefined;
      out += text.slice(i + 1, end);
      i = end + 1;
    } else if (sign === '"') {
      const end = doubleQuoted(text, i + 1);
      if (!end) return undefined;
      out += end.value;
      i = end.next;
    } else if (sign === "\\") {
      const next = text[i + 1];
      if (next === undefined || next === "\r") return undefined;
      if (next !== "\n") out += next;
      i += 2;
    } else if (sign === "@" && GIT_BRACE.test(text.slice(i)) && i > 0) {
      const brace = GIT_BRACE.exec(text.slice(i))![0];
      out += brace;
      i += brace.length;
    } else if (text === "{}" || text === "[" || text === "!") {
      return text;
    } else if (PLAIN.test(sign) || (isInnerSign(sign) && i > 0 && !"=:".includes(text[i - 1]!))) {
      out += sign;
      i += sign.length;
    } else return undefined;
  }
  return out;
}

/** `HEAD~1`, `a#b`, `HEAD^`, `hi!`: special at the beginning of a word only. */
function isInnerSign(sign: string): boolean {
  return sign === "~" || sign === "#" || sign === "^" || sign === "!";
}

function doubleQuoted(text: string, from: number): { value: string; next: number } | undefined {
  let value = "";
  for (let i = from; i < text.length; i++) {
    const sign = text[i]!;
    if (sign === '"') return { value, next: i + 1 };
    if (sign === "$" || sign === "`") return undefined;
    if (sign !== "\\") {
      value += sign;
      continue;
    }
    const next = text[++i];
    if (next === undefined) return undefined;
    if (next === "\n") continue;
    value += '$`"\\'.includes(next) ? next : `\\${next}`;
  }
  return undefined;
}

function hasExpansion(node: SyntaxNode): boolean {
  if (node.type !== "Word" && node.type !== "Literal" && node.type !== "SingleQuoted" && node.type !== "DoubleQuoted") {
    return true;
  }
  let found = false;
  forEachChild(node, (child) => {
    found ||= hasExpansion(child);
  });
  return found;
}

/** Best effort, for refusing and for showing. */
export function guessWord(word: Word, variables: Variables = NONE): string {
  return guessed(rawGuess(word, variables)).guess;
}

function rawGuess(word: Word, variables: Variables): string {
  if (!word.parts) return word.value;
  let out = "";
  for (const part of word.parts) out += out.length > LONGEST_GUESS ? UNSEEN : rawPart(part, variables);
  return out;
}

function rawPart(node: SyntaxNode, variables: Variables): string {
  switch (node.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return node.value;
    case "Glob":
      return node.kind === "question" ? "?" : "*";
    case "BraceExpansion":
      return "*";
    case "DoubleQuoted":
    case "LocaleString": {
      let out = "";
      for (const part of node.parts) out += out.length > LONGEST_GUESS ? UNSEEN : rawPart(part, variables);
      return out;
    }
    case "SimpleExpansion":
      return known(node.text.slice(1), variables);
    case "ParameterExpansion":
      return node.prefix === undefined && node.index === undefined ? parameter(node, variables) : UNSEEN;
    case "CommandExpansion":
      if (/^(?:\$\(|`)\s*mktemp\b/.test(node.text)) return "/tmp/lares-unnamed";
      return /^(?:\$\(|`)\s*pwd\s*[)`]$/.test(node.text) ? "." : UNSEEN;
    default:
      return UNSEEN;
  }
}

/** `${x:-/}`: either may be meant, and the worse of them counts. */
function parameter(node: Extract<SyntaxNode, { type: "ParameterExpansion" }>, variables: Variables): string {
  const value = known(node.parameter, variables);
  const { operation } = node;
  if (operation === undefined) return value;
  if (operation.type !== "Default") return value === "~" ? value : UNSEEN;
  if (operation.operator.endsWith("?")) return value;
  const other = rawGuess(operation.operand, variables);
  if (operation.operator.endsWith("+")) return other;
  return value === UNSEEN || value === "" ? other : worse(value, other);
}

function known(variable: string, variables: Variables): string {
  const set = variables.get(variable);
  if (set !== undefined) return set;
  if (variable === "HOME") return "~";
  if (variable === "PWD") return ".";
  if (variable === "IFS") return " ";
  // Positional parameters of a text given with -c are empty.
  return /^[@*]$/.test(variable) ? "" : UNSEEN;
}
