/** The words of a text as a topic is compared with them: whole words, and how each of them is written. */
import { FORMS } from "../text/vocabulary.ts";

export interface Token {
  /** As it is written. */
  raw: string;
  /** Without case, accents, apostrophes and characters that nobody sees. */
  plain: string;
  /** Begins with a capital letter. */
  capital: boolean;
  /** The first word of a sentence or line, where a capital says nothing. */
  first: boolean;
  /** The parts of a name written as one word: "JaneSmith". */
  parts: readonly string[];
  /** What stands before it, up to the word before. */
  gap: string;
}

const ASCII = /^[\0-\x7f]*$/;
const ASCII_WORD = /[a-z0-9](?:[a-z0-9]|'(?=[a-z]))*/gi;
const WORD = /[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}]|['’](?=\p{L}))*/gu;
/** The end of a sentence, a line break, or a quotation that begins. */
const BEGINS = /[.!?…:\n"“„(]/u;
/** Soft hyphens, zero-width spaces and their like. */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const LEAST_PART = 3;
const PLAIN = /^[a-z0-9]+$/i;
const INNER_CAPITAL = /\p{Ll}\p{Lu}/u;
const NO_PARTS: readonly string[] = [];

/** Read for every word of everything that was said, hence the short ways for what most texts are made of. */
export function tokenize(text: string): Token[] {
  const isAscii = ASCII.test(text);
  const seen = isAscii ? text : text.normalize("NFKC").replace(UNSEEN, "");
  const pattern = isAscii ? ASCII_WORD : WORD;
  const tokens: Token[] = [];
  let end = 0;
  pattern.lastIndex = 0;
  for (let found = pattern.exec(seen); found; found = pattern.exec(seen)) {
    const raw = found[0];
    const plain = fold(raw);
    const gap = found.index === end + 1 && seen[end] === " " ? " " : seen.slice(end, found.index);
    end = found.index + raw.length;
    if (plain === "") continue;
    const capital = plain !== raw && /^[\p{Lu}\p{Lt}]/u.test(raw);
    const first = tokens.length === 0 || (gap !== " " && BEGINS.test(gap));
    tokens.push({ raw, plain, capital, first, parts: capital ? joinedNames(raw) : NO_PARTS, gap });
  }
  return tokens;
}

export function fold(word: string): string {
  // Most words need no more, and this is read for every word of everything that was said.
  if (PLAIN.test(word)) return word.toLowerCase();
  return word
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/['’]s$/u, "")
    .replace(/['’]/gu, "");
}

/** "JaneSmith" as its names. "McDonald" and "MacDonald" are one name each. */
function joinedNames(word: string): readonly string[] {
  if (!INNER_CAPITAL.test(word)) return NO_PARTS;
  const parts = word.split(/(?<=\p{Ll})(?=\p{Lu})/u).map(fold);
  return parts.length > 1 && parts[0] !== "mac" && parts.every((part) => part.length >= LEAST_PART) ? parts : NO_PARTS;
}

/** Compared once: texts repeat their words. */
const MOST_COMPARED = 5000;

/** `isFormOf` for one word and many others. */
export function formsChecker(word: string): (other: string) => boolean {
  const known = new Map<string, boolean>();
  return (other) => {
    let is = known.get(other);
    if (is === undefined) {
      if (known.size >= MOST_COMPARED) known.clear();
      is = isFormOf(word, other);
      known.set(other, is);
    }
    return is;
  };
}

/**
 * Whether one is a form of the other: plural, tense, or an irregular form. A shared stem is not enough: "olive" and "Oliver" have
 * one, and so have "Mary" and "Mari".
 */
function isFormOf(one: string, other: string): boolean {
  if (one === other) return true;
  // Most words differ in their first letter, and are not looked at further.
  if (one[0] !== other[0] && !FORMS.has(one) && !FORMS.has(other)) return false;
  const bases = new Set(findBases(one));
  return findBases(other).some((base) => bases.has(base));
}

/** What every form of a word begins with; empty where forms differ from the first letters on ("go", "went"). */
export function commonStart(word: string): string {
  if (FORMS.has(word) || IRREGULAR.has(word)) return "";
  const bases = findBases(word);
  if (bases.some((base) => base !== word && (FORMS.has(base) || IRREGULAR.has(base)))) return "";
  const shortest = bases.reduce((best, base) => (base.length < best.length ? base : best), word);
  return shortest.replace(/[ey]$/, "");
}

const IRREGULAR: ReadonlySet<string> = new Set(FORMS.values());
const LEAST_BASE = 2;

/** The words it may be a form of, itself among them. */
function findBases(word: string): string[] {
  const bases = [word];
  if (/^[a-z]+$/.test(word)) {
    if (/[^s]s$/.test(word)) bases.push(word.slice(0, -1));
    if (/(?:[sxzo]|ch|sh)es$/.test(word)) bases.push(word.slice(0, -2));
    if (/ie[sd]$/.test(word)) bases.push(`${word.slice(0, -3)}y`);
    const tense = /^(.+?)(?:ed|ing)$/.exec(word)?.[1];
    if (tense !== undefined) bases.push(tense, `${tense}e`, tense.replace(/([^aeiou])\1$/, "$1"));
  }
  return [...new Set(bases.flatMap((base) => [base, FORMS.get(base) ?? base]))].filter(
    (base) => base.length >= LEAST_BASE,
  );
}
