/**
 * Which texts mention a topic or a person. Two steps, because how a word is written elsewhere says whether it is a name: texts that
 * may mention it are gathered first (`mayMention`), then `settleTopic` decides with all of them in view.
 *
 * MEMORY-18: a name of several words is meant as a whole, however it is cased: "will smith" takes no other Smith along. A name has
 * no other forms: "hans" is not "Han".
 */
import { STOP_WORDS } from "../text/vocabulary.ts";
import { commonStart, fold, formsChecker, type Token, tokenize } from "./tokens.ts";

export interface Topic {
  words: readonly TopicWord[];
  /** Whether a text has all of its words in it, in any form, place and case. */
  mayMention(text: string): boolean;
  /** Lower-case ASCII that texts of ASCII alone have in them if they mention it. */
  needles: readonly string[];
}

interface TopicWord {
  plain: string;
  capital: boolean;
  /** Every text has it, so it tells nothing alone: "will", "the". */
  isCommon: boolean;
  /** Chinese, Japanese, Korean, Thai: words are not apart. */
  isUnspaced: boolean;
  hasForm(other: string): boolean;
}

/** Words that join others. Beside a name they are part of it only where they are written so: "An Nguyen". */
const JOINS: ReadonlySet<string> = new Set(
  `a about all am an and any are as at be been but by each every for from her his how in into is its my no nor not of on or our out
  over some than that the their these this those to under via was were what when where which who why with within without your`.split(
    /\s+/,
  ),
);
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
/** "Will you come?": a verb at the start of a question, not a person. */
const ASKED = /^(?:i|you|he|she|it|we|they|the|this|that|these|those|there|my|your|his|her|our|their|a|an|not|be)$/;
const MOST_JOINED = 3;
/** A topic has a few words; the rest of a long one tells little more. */
const MOST_WORDS = 12;
/** Of a word's beginning enough to leave out most texts, and little enough to find a name written in two words. */
const LONGEST_NEEDLE = 2;
const LEAST_NEEDLE = 2;

export function readTopic(topic: string): Topic {
  const words = splitTopic(topic);
  const telling = words.filter((word) => !word.isCommon);
  const sought = telling.length > 0 ? telling : words;
  const needles = findNeedles(sought);
  return {
    words,
    needles,
    mayMention(text) {
      if (sought.length === 0 || isOutOfQuestion(text, needles)) return false;
      const read = readText(text);
      return standsJoined(read.tokens, words) || sought.every((word) => has(read, word, () => true));
    },
  };
}

function findNeedles(words: readonly TopicWord[]): string[] {
  return words.flatMap(({ plain }) => {
    const start = /^[a-z0-9]*/.exec(commonStart(plain))![0].slice(0, LONGEST_NEEDLE);
    return start.length >= LEAST_NEEDLE ? [start] : [];
  });
}

/** Most texts have none of its words, which is seen without reading them word by word. */
function isOutOfQuestion(text: string, needles: readonly string[]): boolean {
  if (!/^[\0-\x7f]*$/.test(text)) return false;
  const small = text.toLowerCase();
  return needles.some((needle) => !small.includes(needle));
}

function splitTopic(topic: string): TopicWord[] {
  return tokenize(topic)
    .flatMap((token) => (token.parts.length > 0 ? token.parts.map((plain) => ({ ...token, plain })) : [token]))
    .map(({ plain, capital }) => ({
      plain,
      capital,
      isCommon: STOP_WORDS.has(plain),
      isUnspaced: UNSPACED.test(plain),
      hasForm: formsChecker(plain),
    }))
    .slice(0, MOST_WORDS);
}

/** Decides with what all texts that may mention it have shown. */
export function settleTopic({ words, needles }: Topic, written: Spelling): (text: string) => boolean {
  const isName = ({ plain }: TopicWord) => isWrittenAsName(written.of(plain));
  const names = findNames(words, isName, (one, other) => written.hasPair(one.plain, other.plain));
  const inNames = new Set(names.flat());
  const apart = words.filter((word) => !inNames.has(word) && !word.isCommon);
  return (text) => {
    if (isOutOfQuestion(text, needles)) return false;
    const read = readText(text);
    if (words.every((word) => word.isCommon) && words.length > 0) return namedByCommonWords(read.tokens, words);
    if (names.length + apart.length === 0) return false;
    if (standsJoined(read.tokens, words)) return true;
    const counts = (word: TopicWord) => (token: Token) =>
      !isName(word) && (!token.capital || (token.first && (written.of(token.plain)?.small ?? 0) > 0));
    return (
      names.every((name) => standsTogether(read.tokens, name)) && apart.every((word) => has(read, word, counts(word)))
    );
  };
}

/** The longer names a word is part of, as they are written: "Jane Smith" and "Will Smith" for "smith". */
export function longerNames({ words }: Topic, text: string): string[] {
  const [sought, more] = words;
  if (!sought || more) return [];
  const tokens = tokenize(text);
  const joins = (at: number) => tokens[at]?.capital === true && /^\s+$/.test(tokens[at]!.gap);
  return tokens.flatMap((token, at) => {
    if (token.plain !== sought.plain || !token.capital) return [];
    let [from, to] = [at, at + 1];
    while (joins(from) && tokens[from - 1]?.capital && !isOpening(tokens[from - 1]!)) from--;
    while (joins(to)) to++;
    return to - from > 1
      ? [
          tokens
            .slice(from, to)
            .map(({ raw }) => raw.replace(/['’]s$/u, ""))
            .join(" "),
        ]
      : [];
  });
}

/** "The Smiths", "Yes Smith": a common word that has its capital from the sentence. */
function isOpening(token: Token): boolean {
  return token.first && STOP_WORDS.has(token.plain) && JOINS.has(token.plain);
}

interface TextRead {
  tokens: readonly Token[];
  /** Texts without spaces between words are looked through sign by sign. */
  whole: string;
}

function readText(text: string): TextRead {
  return { tokens: tokenize(text), whole: UNSPACED.test(text) ? fold(text.normalize("NFKC")) : "" };
}

/** Whether the text has this word: as it is, written as one with its neighbours, or in another form that counts. */
function has(
  { tokens, whole }: TextRead,
  { plain, isUnspaced, hasForm }: TopicWord,
  formCounts: (token: Token) => boolean,
): boolean {
  if (isUnspaced) return whole.includes(plain);
  return tokens.some(
    (token, at) =>
      token.plain === plain ||
      token.parts.includes(plain) ||
      (hasForm(token.plain) && formCounts(token)) ||
      isSpelledApart(tokens, at, plain),
  );
}

/** "Jane Smith" for the topic "janesmith". */
function isSpelledApart(tokens: readonly Token[], at: number, plain: string): boolean {
  let joined = tokens[at]!.plain;
  for (let next = at + 1; next < at + MOST_JOINED && next < tokens.length && plain.startsWith(joined); next++) {
    joined += tokens[next]!.plain;
    if (joined === plain) return true;
  }
  return false;
}

/** "janesmith" for the topic "Jane Smith". */
function standsJoined(tokens: readonly Token[], words: readonly TopicWord[]): boolean {
  const joined = words.length > 1 ? words.map(({ plain }) => plain).join("") : "";
  return joined !== "" && tokens.some(({ plain }) => plain === joined);
}

interface Capitals {
  small: number;
  capital: number;
}

/** How words are written in the texts that were added, and which of them stand side by side with capitals. */
export class Spelling {
  private readonly words = new Map<string, Capitals>();
  private readonly pairs = new Set<string>();
  private readonly sought: readonly string[];
  private readonly topic: readonly TopicWord[];

  constructor({ words }: Topic) {
    this.topic = words;
    this.sought = words.map((word) => word.plain);
  }

  add(text: string): void {
    let before: Token | undefined;
    for (const token of tokenize(text)) {
      if (this.topic.some((word) => word.hasForm(token.plain))) {
        const { small, capital } = this.words.get(token.plain) ?? { small: 0, capital: 0 };
        this.words.set(token.plain, {
          small: small + (token.capital ? 0 : 1),
          capital: capital + (token.capital ? 1 : 0),
        });
      }
      if (before?.capital && token.capital && !token.first) this.pair(before, token);
      before = token;
    }
  }

  of(word: string): Capitals | undefined {
    return this.words.get(word);
  }

  hasPair(one: string, other: string): boolean {
    return this.pairs.has(`${one} ${other}`);
  }

  /** Other forms that are mostly written with a capital: names of their own. */
  similar(): string[] {
    return [...this.words.keys()]
      .filter((word) => !this.sought.includes(word) && isWrittenAsName(this.words.get(word)))
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
      .sort();
  }

  private pair(one: Token, other: Token): void {
    if (this.sought.includes(one.plain) && this.sought.includes(other.plain))
      this.pairs.add(`${one.plain} ${other.plain}`);
  }
}

/** Mostly with a capital: people who chat leave some out. */
function isWrittenAsName(written: Capitals | undefined): boolean {
  return written !== undefined && written.capital > written.small;
}

/** Neighbouring words of the topic that are a name together. */
function findNames(
  words: readonly TopicWord[],
  isName: (word: TopicWord) => boolean,
  areTogether: (one: TopicWord, other: TopicWord) => boolean,
): TopicWord[][] {
  const belongs = (at: number): boolean => {
    const word = words[at]!;
    const beside = [words[at - 1], words[at + 1]].filter((other) => other !== undefined);
    if (word.capital && beside.some((other) => other.capital)) return true;
    const [before, after] = [words[at - 1], words[at + 1]];
    if ((before && areTogether(before, word)) || (after && areTogether(word, after))) return true;
    if (!word.isCommon) return isName(word) || beside.some((other) => other.isCommon && !JOINS.has(other.plain));
    // Between two words it joins them: "Petra and Tom", "the divorce of Petra".
    const [only] = beside;
    if (beside.length !== 1 || only!.isCommon) return false;
    return !JOINS.has(word.plain) || (/^an?$/.test(word.plain) && isName(only!));
  };
  const names: TopicWord[][] = [];
  let run: TopicWord[] = [];
  words.forEach((word, at) => {
    if (belongs(at) && !word.isUnspaced) run.push(word);
    else {
      names.push(run);
      run = [];
    }
  });
  return [...names, run].filter((name) => name.length > 1);
}

/** One after the other, with at most a middle name or an initial between two of them; or as lists have it: "Smith, Jane". */
function standsTogether(tokens: readonly Token[], name: readonly TopicWord[]): boolean {
  return (
    tokens.some((token, at) => {
      if (token.plain === name[0]!.plain && followsOn(tokens, at, name)) return true;
      const next = tokens[at + 1];
      if (name.length !== 2 || !next || token.plain !== name[1]!.plain || next.plain !== name[0]!.plain) return false;
      return (
        !next.first && (token.capital ? next.capital : /^,\s/.test(next.gap) && !name.some((word) => word.isCommon))
      );
    }) || standsJoined(tokens, name)
  );
}

function followsOn(tokens: readonly Token[], from: number, name: readonly TopicWord[]): boolean {
  let at = from;
  for (const { plain } of name.slice(1)) {
    const [next, second] = [tokens[at + 1], tokens[at + 2]];
    if (next?.plain === plain && goesOn(tokens[at]!, next)) at += 1;
    else if (next?.capital && goesOn(tokens[at]!, next) && second?.plain === plain && goesOn(next, second)) at += 2;
    else return false;
  }
  return true;
}

/** In the same sentence; the dot of "Dr." and "J." ends none. */
function goesOn(before: Token, next: Token): boolean {
  return !next.first || (before.plain.length <= 3 && /^\.\s*$/.test(next.gap));
}

/** "Will" alone: only where it is written as a name. */
function namedByCommonWords(tokens: readonly Token[], words: readonly TopicWord[]): boolean {
  return tokens.some((token, at) => {
    if (!words.every(({ plain }, n) => tokens[at + n]?.plain === plain && tokens[at + n]!.capital)) return false;
    const next = tokens[at + words.length];
    return !token.first || next === undefined || next.capital || !ASKED.test(next.plain);
  });
}
