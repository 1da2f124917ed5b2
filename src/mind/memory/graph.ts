/**
 * The entity graph: names in what is remembered, and typed relations between them, by plain patterns. A question that asks for a
 * relation ("what am I working on?") follows it, whatever words the answer has.
 */
import { readSpeaker } from "./text/analyse.ts";
import { isTimeWord } from "./text/time-words.ts";

export interface Relation {
  relation: string;
  /** Lower case; `self` for the one who speaks without a name. */
  subject: string;
  object: string;
}

/** The verb, and what it relates: subject before, object behind. */
const RELATIONS: readonly [relation: string, verb: string][] = [
  [
    "works on",
    "(?:am|is|are|was|were|been|be|['’]m|['’]s|['’]re)?\\s*(?:currently |now |still )?work(?:s|ing|ed)? on|(?:am|is|are|['’]m|['’]s|['’]re) (?:currently |now )?(?:building|writing|developing|designing)",
  ],
  [
    "works at",
    "(?:am|is|are|['’]m|['’]s)?\\s*(?:currently |now )?work(?:s|ing|ed)? (?:at|for)|(?:got|have|has|started|starts) (?:a|the|my|her|his) (?:new )?job (?:at|with)",
  ],
  [
    "lives in",
    "(?:am|is|are|['’]m|['’]s)?\\s*(?:currently |now )?liv(?:e|es|ing|ed) in|moved to|(?:am|is|are|['’]m) based in",
  ],
  ["likes", "(?:really |absolutely |just )?(?:love|loves|like|likes|enjoy|enjoys|prefer|prefers|adore|adores)"],
  ["married to", "(?:am|is|are|was|['’]m|['’]s)?\\s*(?:married|engaged) to"],
  ["owns", "(?:have|has|own|owns|bought|got|adopted) (?:a|an|the|my|two|three)"],
  ["learns", "(?:am|is|are|['’]m|['’]s)?\\s*(?:learning|studying)|stud(?:y|ies|ied)|learns?"],
];
const PATTERNS = RELATIONS.map(
  ([relation, verb]) =>
    [
      relation,
      new RegExp(`(?:^|[\\s"(])(I|[Ww]e|[Tt]he user|\\p{Lu}[\\p{L}'’-]+)\\s*(?:${verb})\\s+([^.,;:!?\\n]{2,80})`, "gu"),
    ] as const,
);

/** A question's ways of asking for a relation: each a row of words that follow one another on a line. */
const ASKED: readonly [relation: string, ways: readonly (readonly RegExp[])[]][] = [
  [
    "works on",
    [
      [/\bwhat\b/i, /\b(?:am|is|are|was|were|been)\b/i, /\b(?:working on|building|writing|busy with|up to)\b/i],
      [/\bwhich projects?\b|\bmy (?:current )?projects?\b/i],
    ],
  ],
  [
    "works at",
    [
      [/\bwhere\b/i, /\bwork(?:s|ing)?\b/i],
      [/\bwho(?:m)?\b/i, /\bwork(?:s|ing)? for\b/i],
      [/\b(?:employer|workplace)\b/i],
    ],
  ],
  [
    "lives in",
    [[/\bwhere\b/i, /\b(?:live|lives|living|based|reside|resides)\b/i], [/\b(?:home ?town|home address)\b/i]],
  ],
  ["likes", [[/\bwhat\b/i, /\b(?:like|love|enjoy|prefer)\b/i]]],
  ["married to", [[/\bwho\b/i, /\b(?:married|engaged)\b/i], [/\b(?:wife|husband|spouse|partner)\b/i]]],
  ["learns", [[/\bwhat\b/i, /\b(?:learning|studying|study|learn)\b/i]]],
];

/** Words with a capital at the beginning of a sentence that stand for somebody else. */
const NO_NAMES =
  /^(?:we|the|he|she|it|they|you|who|which|that|this|there|everybody|everyone|somebody|someone|nobody|people|and|but|so|then|also|just|now|still|always|never)$/i;

/** Words with a capital that are nobody: days of the year, and what says that a name follows. */
const NO_ENTITIES: ReadonlySet<string> = new Set("name names easter christmas whitsun".split(" "));

/** "Name: Otto Weber", "Full name: Otto Weber": the first word behind it is a name too, not the start of a sentence. */
const NAME_FOLLOWS = /\b(names?|namen?|nom|nombre|nome|naam|navn|namn|from|to|von|de)\s*:\s+(?=\p{Lu})/giu;

/** Names kept of one text: more is a list, not a story. */
const MOST_NAMES = 8;

/**
 * Rows of blanks as one. The patterns have places where a blank may stand and words between them may be missing: a long row
 * could be divided among those in exponentially many ways.
 */
function singleBlanks(text: string): string {
  return text.replace(/\s+/g, (blanks) => (blanks.includes("\n") ? "\n" : " "));
}

export function relationsIn(text: string): Relation[] {
  const spoken = readSpeaker(text);
  const self = spoken ? spoken.speaker.toLowerCase() : "self";
  const said = singleBlanks(spoken?.said ?? text);
  const found: Relation[] = [];
  for (const [relation, pattern] of PATTERNS) {
    for (const [, subject, object] of said.matchAll(pattern)) {
      const isSelf = /^(i|we|the user)$/i.test(subject!);
      found.push({
        relation,
        subject: isSelf ? self : subject!.toLowerCase().replace(/['’]s$/, ""),
        object: plain(object!).slice(0, 80),
      });
    }
  }
  return found;
}

/** What is related to, without the words that only say since when. */
function plain(object: string): string {
  const lower = object.trim().toLowerCase();
  const since = lower.search(/\ssince\s/);
  return lower
    .slice(0, since < 0 ? undefined : since)
    .replace(/\s(?:now|currently|again|today|these days|at the moment|at present|for now)$/, "")
    .trimEnd();
}

/** Proper names by their capital letters; the first word of a sentence counts only when it also occurs elsewhere so. */
export function namesIn(text: string): { norm: string; name: string }[] {
  const spoken = readSpeaker(text);
  const names = new Map<string, string>();
  if (spoken) names.set(spoken.speaker.toLowerCase(), spoken.speaker);
  const said = singleBlanks(spoken?.said ?? text).replace(NAME_FOLLOWS, "$1 ");
  // "Ana is married to Tom": the subject of a relation is a name, even at the start of a sentence.
  for (const [, pattern] of PATTERNS)
    for (const [, subject] of said.matchAll(pattern)) {
      const name = subject!.replace(/['’]s$/, "");
      if (/^\p{Lu}\p{Ll}/u.test(name) && !NO_NAMES.test(name)) names.set(name.toLowerCase(), name);
    }
  for (const found of said.matchAll(
    /(?<![.!?…:"“]\s|^)(?<=\s|["“(])\p{Lu}[\p{L}\p{N}'’-]*\p{Ll}[\p{L}\p{N}'’-]*(?:\s+\p{Lu}[\p{L}\p{N}'’-]*)*/gu,
  )) {
    const end = found.index + found[0].length;
    const around = { before: said.slice(Math.max(0, found.index - 8), found.index), after: said.slice(end, end + 8) };
    const name = withoutTimes(found[0].replace(/['’]s$/, ""), around);
    if (name === "" || /^I['’]/.test(name) || names.size >= MOST_NAMES) continue;
    names.set(name.toLowerCase(), name);
  }
  return [...names].map(([norm, name]) => ({ norm, name }));
}

/** "Sunday" is nobody, and "March Tom" is Tom. */
function withoutTimes(name: string, around: { before: string; after: string }): string {
  const words = name.split(/\s+/);
  return words
    .filter((word, at) => {
      const [before, after] = [words[at - 1] ?? around.before, words[at + 1] ?? around.after];
      return !NO_ENTITIES.has(word.toLowerCase()) && !isTimeWord(word, { before, after });
    })
    .join(" ");
}

/** Which relation a question asks for, and of whom: names in it, or `self`. */
export function askedRelation(question: string): { relation: string; subjects: string[] } | undefined {
  const lines = question.split("\n");
  for (const [relation, ways] of ASKED) {
    if (!ways.some((way) => lines.some((line) => followsIn(line, way)))) continue;
    const names = [...question.matchAll(/(?<=\s)\p{Lu}[\p{L}'’-]+/gu)].map(([name]) =>
      name.toLowerCase().replace(/['’]s$/, ""),
    );
    const own = /\b(i|my|me|we|our|am)\b/i.test(question);
    return { relation, subjects: own ? ["self", ...names] : names };
  }
  return undefined;
}

/** The words one after the other. The first place of each is enough, so the line is read once. */
function followsIn(line: string, words: readonly RegExp[]): boolean {
  let rest = line;
  for (const word of words) {
    const found = word.exec(rest);
    if (!found) return false;
    rest = rest.slice(found.index + found[0].length);
  }
  return true;
}
