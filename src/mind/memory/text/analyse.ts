/**
 * Text → the words that are indexed and searched: folded, without stop words, irregular forms joined, stemmed. Scripts without
 * spaces (Chinese, Japanese, Korean, Thai) become pairs of neighbouring characters.
 */
import { stemmer } from "stemmer";
import { FORMS, STOP_WORDS } from "./vocabulary.ts";

const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}ー";
const TOKEN = new RegExp(`[${UNSPACED}]+|[\\p{L}\\p{N}](?:[\\p{L}\\p{N}\\p{M}]|['’](?=\\p{L}))*`, "gu");
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");
/** Characters that nobody sees, in the middle of words that were copied: soft hyphen, zero-width space, word joiner, byte order mark. */
const UNSEEN = /[\u00ad\u200b\u2060\ufeff]/g;
/** A word longer than this is a hash or a link; its head is enough to find it. */
const LONGEST = 40;

/** The words of a text in their order, stop words left out. Repeated words stay repeated. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  for (const [token] of text.replace(UNSEEN, "").matchAll(TOKEN)) {
    if (IS_UNSPACED.test(token)) pairs(token.normalize("NFKC"), words);
    else {
      const word = canonical(token);
      if (word) words.push(word);
    }
  }
  return words;
}

/** One word as it is indexed; empty for a stop word. */
export function canonical(token: string): string {
  const plain = token
    .toLowerCase()
    .replaceAll("’", "'")
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .slice(0, LONGEST);
  const bare = plain.replace(/'s$|'$/, "").replaceAll("'", "");
  return STOP_WORDS.has(plain) || STOP_WORDS.has(bare) ? "" : stem(FORMS.get(bare) ?? bare);
}

/** Porter's stemmer: "swimming", "swims" → "swim". It takes any word for English; one with other letters or digits stays as it is. */
export function stem(word: string): string {
  return /^[a-z]{3,}$/.test(word) ? stemmer(word) : word;
}

function pairs(run: string, into: string[]): void {
  const signs = [...run];
  if (signs.length === 1) into.push(run);
  for (let at = 0; at + 1 < signs.length; at++) into.push(signs[at]! + signs[at + 1]!);
}

/** What stands before a colon and is nobody: "Name: Ana Weber", "Note: the key is under the mat". */
const LABELS =
  /^(?:name|note|notes|todo|date|time|day|email|mail|phone|address|subject|from|to|re|question|answer|fact|summary|title|url|warning|example|today|tomorrow)$|\bnames?$/i;

/** Who says it, when the text begins with a name: `Anna: hello`, `[3 May] Anna: hello`. */
export function readSpeaker(text: string): { speaker: string; said: string } | undefined {
  const found = /^(?:[[(][^\])]{1,60}[\])]\s*)?(\p{Lu}[\p{L}\p{N}.'’ -]{0,30}):\s+(?=\S)/u.exec(text);
  return found && found[1]!.split(" ").length <= 3 && !LABELS.test(found[1]!)
    ? { speaker: found[1]!, said: text.slice(found[0].length) }
    : undefined;
}
