/**
 * Words of a shell text. A word is literal when our own small reader, which knows nothing but quotes and backslashes, and
 * the parser agree on what the program will get. Anything else has only a guess.
 *
 * W1: a literal word means the same to every POSIX shell, in every directory, at any time.
 */
import { forEachChild, type SyntaxNode, type Word } from "unbash";
import type { ShellWord } from "../../../../core/contracts/index.ts";

/** Means itself, unquoted, anywhere in a word. */
const PLAIN = /^[\p{L}\p{N}\p{M}_./:=@%+,\]-]$/u;
/** `HEAD@{1}`, `stash@{0}`, `@{upstream}`: braces that no shell expands. */
const GIT_BRACE = /^@\{[A-Za-z0-9-]+\}/;

export function readWord(word: Word): ShellWord {
  const literal = literalOf(word.text);
  const isLiteral = literal !== undefined && literal === word.value && !hasExpansion(word);
  return { ...(isLiteral ? { literal } : {}), guess: isLiteral ? literal : guessOf(word) };
}

/** What the text of one word means, or undefined when that takes more than removing quotes. */
export function literalOf(text: string): string | undefined {
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
export function guessOf(word: Word): string {
  if (!word.parts) return word.value;
  let out = "";
  const add = (node: SyntaxNode): void => {
    switch (node.type) {
      case "Literal":
      case "SingleQuoted":
      case "AnsiCQuoted":
        out += node.value;
        return;
      case "Glob":
        out += node.kind === "question" ? "?" : "*";
        return;
      case "BraceExpansion":
        out += "*";
        return;
      case "DoubleQuoted":
      case "LocaleString":
        for (const part of node.parts) add(part);
        return;
      case "SimpleExpansion":
        out += known(node.text.slice(1));
        return;
      case "ParameterExpansion":
        out += node.prefix === undefined && node.index === undefined ? known(node.parameter) : "*";
        return;
      default:
        out += "*";
    }
  };
  for (const part of word.parts) add(part);
  return out;
}

function known(variable: string): string {
  if (variable === "HOME") return "~";
  if (variable === "PWD") return ".";
  if (variable === "IFS") return " ";
  // Positional parameters of a text given with -c are empty.
  return /^[@*]$/.test(variable) ? "" : "*";
}
