/** What a question asks for: its words, whether it wants a time, whose words it means, which days it names. */

import { defined } from "../../../core/kit/index.ts";
import { canonical, splitWords } from "../text/analyse.ts";
import { MONTHS } from "../text/vocabulary.ts";

export interface SearchQuestion {
  /** Each word once, in their order. */
  words: string[];
  asksWhen: boolean;
  /** Days it names: "in June 2023". Half open. */
  days?: { from: number; to: number };
}

/** The masks of scoring have 31 bits; a longer question loses its last words, after the rare ones were chosen. */
export const MOST_WORDS = 30;

/** Nobody asks more; a text of any length may be searched for. */
const MOST_LETTERS = 16_000;
const bounded = (text: string) => text.slice(0, MOST_LETTERS);

const ASKS_WHEN =
  /^\s*(?:(?:on|in|since|until|till|from|around|by)\s+)?(?:when\b|(?:what|which)\s+(?:day|date|time|week|month|year|season)s?\b|how long ago\b)/i;

export function readQuestion(whole: string): SearchQuestion {
  const text = bounded(whole);
  const days = daysIn(text);
  return { words: [...new Set(splitWords(text))], asksWhen: ASKS_WHEN.test(text), ...defined({ days }) };
}

const MOST_IN_A_NAME = 4;

/** The words of a question that is nothing but words, few enough for a name: "Ben", "Otto Weber". */
export function bareWords(whole: string): string[] {
  const text = whole.trim().replace(/[?!.]$/, "");
  if (text.length > 80 || !/^\p{L}[\p{L}\p{M}'’-]*(?: \p{L}[\p{L}\p{M}'’-]*)*$/u.test(text)) return [];
  const words = text.split(" ");
  return words.length <= MOST_IN_A_NAME ? words : [];
}

/** Names that occur everywhere say nothing about meaning and pull the vector towards whatever else names them. */
export function withoutNames(whole: string, names: ReadonlySet<string>): string {
  const text = bounded(whole);
  const rest = text
    .replace(/[\p{L}\p{N}]+(?:['’]s)?/gu, (token) =>
      /^\p{Lu}/u.test(token) && names.has(canonical(token)) ? "" : token,
    )
    .replace(/\s+/g, " ")
    .trim();
  return /\p{L}/u.test(rest) ? rest : text;
}

/** Who is meant: speakers of whom a word of the name is in the question. */
export function speakersIn(text: string, speakers: Iterable<[name: string, number: number]>): Set<number> {
  const words = new Set([...bounded(text).matchAll(/[\p{L}\p{N}]+/gu)].map(([word]) => word.toLowerCase()));
  const found = new Set<number>();
  for (const [name, number] of speakers) {
    if (name.split(/[^\p{L}\p{N}]+/u).some((part) => part.length > 1 && words.has(part.toLowerCase())))
      found.add(number);
  }
  return found;
}

const MONTH = new RegExp(
  `\\b(?:(\\d{1,2})(?:st|nd|rd|th)?\\s+(?:of\\s+)?)?(${MONTHS.join("|")})\\b(?:\\s+(\\d{1,2})(?:st|nd|rd|th)?\\b(?!\\d))?(?:,?\\s+(?:of\\s+)?((?:19|20)\\d\\d))?`,
  "i",
);

function daysIn(text: string): { from: number; to: number } | undefined {
  const month = MONTH.exec(text);
  const year = month?.[4] ?? /\b((?:19|20)\d\d)\b/.exec(text)?.[1];
  // "May I …" is no month; a month without a year is found by its word.
  if (!year) return undefined;
  if (!month) return { from: Date.UTC(Number(year), 0), to: Date.UTC(Number(year) + 1, 0) };
  const index = MONTHS.indexOf(month[2]!.toLowerCase());
  const day = Number(month[1] ?? month[3] ?? 0);
  if (day > 0 && day <= 31) {
    const start = Date.UTC(Number(year), index, day);
    // A day either side: the text may be of another time zone, and people speak of yesterday.
    return { from: start - 86_400_000, to: start + 2 * 86_400_000 };
  }
  return { from: Date.UTC(Number(year), index), to: Date.UTC(Number(year), index + 1) };
}
