/**
 * Several topics in one phrase: "Bob and Carla", "Bob, Carla & Tom". Forgetting can't be undone and "Marks and Spencer" is one name, so
 * a phrase is only taken apart where nobody has written it as a whole. In quotes it is never taken apart.
 */
import { STOP_WORDS } from "../text/vocabulary.ts";
import { type Token, tokenize } from "./tokens.ts";

const BETWEEN = /[,;&]|\sand\s/iu;
const QUOTED = /^(["“„«])(.*)["”“»]$/su;
const LEAST_PART = 2;

/** The topics a phrase may list, or none if it is one topic in any case. */
export function listParts(phrase: string): string[] {
  if (QUOTED.test(phrase)) return [];
  const parts = phrase.split(BETWEEN).map((part) => part.trim());
  const isTelling = (part: string) =>
    part.length >= LEAST_PART && tokenize(part).some(({ plain, capital }) => capital || !STOP_WORDS.has(plain));
  const found = parts.filter((part) => part !== "");
  return found.length > 1 && found.every(isTelling) ? [...new Set(found)] : [];
}

export function withoutQuotes(phrase: string): string {
  return QUOTED.exec(phrase)?.[2]?.trim() || phrase;
}

/** So that it isn't taken apart when it is read again. */
export function quoteTopic(topic: string): string {
  return listParts(topic).length > 0 ? `"${topic}"` : topic;
}

/** Whether a text has the phrase as it is written; "Smith, Jane" also stands as "Jane Smith". */
export function wholeChecker(phrase: string): (text: string) => boolean {
  const [last = "", first = "", more] = phrase.split(",").map((part) => part.trim());
  const forms = [phrase, ...(first !== "" && more === undefined ? [`${first} ${last}`] : [])].map(tokenize);
  return (text) => {
    const tokens = tokenize(text);
    return forms.some((form) => tokens.some((_, at) => form.every((word, n) => isAt(tokens[at + n], word, n))));
  };
}

function isAt(token: Token | undefined, word: Token, n: number): boolean {
  return token?.plain === word.plain && (n === 0 || token.gap.trim() === word.gap.trim());
}
