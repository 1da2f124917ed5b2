/**
 * What a conversation has about something that is forgotten: not only what was said, which the index knows, but also what tools
 * were called with and what they answered.
 */
import { canonical, splitWords } from "../text/analyse.ts";

export interface Mention {
  /** Whether a text is about it. */
  mentions: (text: string) => boolean;
  /** Lower-case ASCII that the stored form of such a message has in it, so that the database can sort out most of the others. */
  needles: readonly string[];
}

const LEAST_NEEDLE = 2;
const LETTERS = /[\p{L}\p{N}]+/gu;

/** Texts that have all words of a topic or a name in them. */
export function mentionsTopic(topic: string): Mention {
  const words = [...new Set(splitWords(topic))];
  const names = namesWithCommonWords(topic);
  return {
    mentions: (text) => {
      if (words.length === 0) return false;
      const has = new Set(splitWords(text));
      return words.every((word) => has.has(word)) && names.every((name) => standTogether(text, name));
    },
    needles: (topic.match(LETTERS) ?? []).flatMap((token) => {
      const word = canonical(token);
      // What a stemmed word has in common with how it is written: "divorc" of "divorces".
      const plain = token.toLowerCase();
      let same = 0;
      while (same < word.length && plain[same] === word[same]) same++;
      return longestAscii(plain.slice(0, same));
    }),
  };
}

/**
 * "Will Smith", "An Nguyen": the search leaves common words out, and without them a name would take everybody of that family along.
 * Where the topic has one with a capital beside another capital, the two must stand side by side in the text, in any case.
 */
function namesWithCommonWords(topic: string): (readonly [string, string])[] {
  const tokens = topic.match(LETTERS) ?? [];
  return tokens.flatMap((first, at) => {
    const second = tokens[at + 1];
    if (second === undefined || ![first, second].every((token) => /^\p{Lu}/u.test(token))) return [];
    return canonical(first) === "" || canonical(second) === "" ? [[first.toLowerCase(), second.toLowerCase()]] : [];
  });
}

function standTogether(text: string, [first, second]: readonly [string, string]): boolean {
  const tokens = text.toLowerCase().match(LETTERS) ?? [];
  return tokens.some((token, at) => token === first && tokens[at + 1] === second);
}

/** Texts that quote this verbatim. */
export function mentionsText(quoted: string): Mention {
  const sought = quoted.trim();
  // As JSON has it, up to the first character that is escaped there.
  return { mentions: (text) => text.includes(sought), needles: longestAscii(sought.toLowerCase()) };
}

function longestAscii(text: string): string[] {
  const runs = text.match(/[ !#-[\]-~]+/g) ?? [];
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), "");
  return longest.length >= LEAST_NEEDLE ? [longest] : [];
}

interface Part {
  type: string;
  text?: string;
  input?: unknown;
  ours?: true;
}

/** Everything a message holds that a model reads, without Lares' own line before it. */
export function wholeText(content: string): string {
  return (JSON.parse(content) as readonly Part[])
    .filter((part) => !part.ours)
    .map((part) => [part.text ?? "", ...textsIn(part.input)].join("\n"))
    .join("\n");
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
