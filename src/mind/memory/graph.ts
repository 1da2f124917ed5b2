/**
 * The entity graph: names in what is remembered, and typed relations between them, by plain patterns. A question that asks for a
 * relation ("what am I working on?") follows it, whatever words the answer has.
 *
 * GRAPH-1: a word is sure to be a name where its capital says so. Where a capital says nothing (the first word of a sentence), or is
 *     missing ("schmidt likes tea"), it may be one: it counts once the same word is a sure name somewhere else in that scope.
 */
import { readSpeaker } from "./text/analyse.ts";
import { isTimeWord } from "./text/time-words.ts";

export interface Relation {
  relation: string;
  /** Lower case; `self` for the one who speaks without a name. */
  subject: string;
  object: string;
}

/**
 * The verb, and what it relates: subject before, object behind. `ofOne`: the same as said of one person, for subjects in small
 * letters: before such a verb English has an article, a pronoun or a name.
 */
const RELATIONS: readonly [relation: string, verb: string, ofOne: string][] = [
  [
    "works on",
    "(?:am|is|are|was|were|been|be|['’]m|['’]s|['’]re)?\\s*(?:currently |now |still )?work(?:s|ing|ed)? on|(?:am|is|are|['’]m|['’]s|['’]re) (?:currently |now )?(?:building|writing|developing|designing)",
    "works on|is (?:currently |now |still )?(?:working on|building|writing|developing|designing)",
  ],
  [
    "works at",
    "(?:am|is|are|['’]m|['’]s)?\\s*(?:currently |now )?work(?:s|ing|ed)? (?:at|for)|(?:got|have|has|started|starts) (?:a|the|my|her|his) (?:new )?job (?:at|with)",
    "works (?:at|for)|is (?:currently |now )?working (?:at|for)",
  ],
  [
    "lives in",
    "(?:am|is|are|['’]m|['’]s)?\\s*(?:currently |now )?liv(?:e|es|ing|ed) in|moved to|(?:am|is|are|['’]m) based in",
    "lives in|is (?:currently |now )?(?:living|based) in",
  ],
  [
    "likes",
    "(?:really |absolutely |just )?(?:love|loves|like|likes|enjoy|enjoys|prefer|prefers|adore|adores)",
    "(?:really |absolutely |just )?(?:loves|likes|enjoys|prefers|adores)",
  ],
  ["married to", "(?:am|is|are|was|['’]m|['’]s)?\\s*(?:married|engaged) to", "(?:is|was) (?:married|engaged) to"],
  ["owns", "(?:have|has|own|owns|bought|got|adopted) (?:a|an|the|my|two|three)", "(?:has|owns) (?:a|an|the|two|three)"],
  [
    "learns",
    "(?:am|is|are|['’]m|['’]s)?\\s*(?:learning|studying)|stud(?:y|ies|ied)|learns?",
    "is (?:learning|studying)|studies|learns",
  ],
];
const OBJECT = "([^.,;:!?\\n]{2,80})";
/** "Ann Smith", with what opens the sentence before it: see `withoutOpening`. */
const FULL_NAME = "\\p{Lu}[\\p{L}'’-]+(?: (?!I['’])\\p{Lu}[\\p{L}'’-]+){0,3}";
const PATTERNS = RELATIONS.map(
  ([relation, verb]) =>
    [
      relation,
      new RegExp(`(?:^|[\\s"(])([Ii]|[Ww]e|[Tt]he user|${FULL_NAME})\\s*(?:${verb})\\s+${OBJECT}`, "gu"),
    ] as const,
);
/** The first word of a sentence, in small letters. */
const SMALL_PATTERNS = RELATIONS.map(
  ([relation, , verb]) =>
    [relation, new RegExp(`(?:^|[.!?\\n]\\s?)(\\p{Ll}[\\p{L}'’-]+)\\s(?:${verb})\\s${OBJECT}`, "gu")] as const,
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

/** They open a sentence before the one it is about: "Yesterday Tom moved to Kiel", "Actually Ann likes tea". */
const OPENINGS: ReadonlySet<string> = new Set(
  `a an my our your his her its their these those if when while since because although though as before after until once where why how
  what yes no not or nor yet however therefore maybe perhaps today tomorrow yesterday tonight sometimes often soon later again even
  only both either neither here for from in on at by with without actually apparently basically certainly clearly currently
  finally fortunately generally lately luckily mostly normally obviously originally personally possibly presumably previously probably
  really recently sadly seemingly supposedly surely suddenly unfortunately usually well oh ok okay hi hello hey please remember note
  did does do is are was were has have had could would should might must i user`.split(/\s+/),
);

/** Words with a capital that are nobody: days of the year, and what says that a name follows. */
const NO_ENTITIES: ReadonlySet<string> = new Set("name names easter christmas whitsun".split(" "));

/** "Name: Otto Weber", "Full name: Otto Weber": the first word behind it is a name too, not the start of a sentence. */
const NAME_FOLLOWS = /\b(names?|namen?|nom|nombre|nome|naam|navn|namn|from|to|von|de)\s*:\s+(?=\p{Lu})/giu;

/** They stand before a name and are none: "Dr. Meyer" is Meyer. */
const TITLES = "dr|doctor|prof|professor|mr|mrs|ms|mx|sir|herr|frau|mme|mlle|señor|señora";
const TITLE = new RegExp(`(?<![\\p{L}\\p{N}])(${TITLES})\\.? (?=\\p{Lu})`, "giu");
/** With a number they label a place or a thing, and alone they are none of its names either. Few people have one for a surname. */
const LABELS =
  "gate|room|platform|terminal|flight|seat|floor|exit|suite|apartment|unit|chapter|section|track|ticket|invoice";
const LABELLED = new RegExp(`(?<![\\p{L}\\p{N}])(?:${LABELS}) (?:[A-Z]{0,2}\\d[\\w-]{0,9}|[A-Z])(?![\\w])`, "giu");
const NO_NAME_ALONE = new RegExp(`^(?:${TITLES}|${LABELS})s?$`, "iu");

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
  for (const [relation, pattern] of [...PATTERNS, ...SMALL_PATTERNS]) {
    for (const [, subject, object] of said.matchAll(pattern)) {
      const name = withoutOpening(subject!);
      const isSelf = /^(i|we|(the )?user)$/i.test(name);
      if (!isSelf && /^\p{Ll}/u.test(name) && NO_NAMES.test(name)) continue;
      found.push({
        relation,
        subject: isSelf ? self : name.toLowerCase().replace(/['’]s$/, ""),
        object: plain(object!, PLACED.has(relation)).slice(0, 80),
      });
    }
  }
  return found;
}

/** The name at the end of a subject. A single word stays. */
function withoutOpening(subject: string): string {
  const words = subject.split(" ");
  const isOpening = (word: string, after: string) =>
    NO_NAMES.test(word) ||
    NO_NAME_ALONE.test(word) ||
    OPENINGS.has(word.toLowerCase()) ||
    isTimeWord(word, { before: "", after });
  while (words.length > 1 && isOpening(words[0]!, words[1]!)) words.shift();
  return words.join(" ");
}

/** Relations to a place or somebody, of which a time is no part. Of what somebody likes it may be the point. */
const PLACED: ReadonlySet<string> = new Set(["works on", "works at", "lives in", "married to"]);
const TIMES =
  /\s(?:(?:in|on|at|during|over|from|until|till|every|each|this|next|last) (?:(?:the|every|early|late|mid) )?)(?:(?:next|last) )?(\p{L}+|\d{4})(?: \d{4})?$/u;
const TIME_NAMES =
  /^(?:\d{4}|(?:week(?:end|day)?|month|year|day|morning|afternoon|evening|night|summer|winter|spring|autumn|fall|holiday)s?)$/;

/** "Nokia in March" is Nokia. */
function withoutTime(object: string): string {
  const found = TIMES.exec(object);
  if (!found) return object;
  const word = found[1]!;
  const isTime = TIME_NAMES.test(word) || isTimeWord(word, { before: "", after: "" });
  return isTime ? object.slice(0, found.index) : object;
}

/** What is related to, without the words that only say when or since when. */
function plain(object: string, isPlaced: boolean): string {
  const whole = object.trim().toLowerCase();
  const lower = isPlaced ? withoutTime(whole) : whole;
  const since = lower.search(/\ssince\s/);
  return lower
    .slice(0, since < 0 ? undefined : since)
    .replace(/\s(?:now|currently|again|today|these days|at the moment|at present|for now)$/, "")
    .trimEnd();
}

export interface FoundName {
  norm: string;
  name: string;
  /** False: it may be one (GRAPH-1). */
  isSure: boolean;
}

/** Capitalised words in a row. A row ends with its line: the lines of a list are not one name. */
const NAMES = /(?<=^|[\s"“(])\p{Lu}[\p{L}\p{N}'’-]*\p{Ll}[\p{L}\p{N}'’-]*(?: \p{Lu}[\p{L}\p{N}'’-]*)*/gu;

/** Proper names by their capital letters, the sure ones first. */
export function namesIn(text: string): FoundName[] {
  const spoken = readSpeaker(text);
  const sure = new Map<string, string>();
  const maybe = new Map<string, string>();
  if (spoken) sure.set(spoken.speaker.toLowerCase(), spoken.speaker);
  // In small letters, so that no capital of theirs makes them or their neighbours names.
  const said = singleBlanks(spoken?.said ?? text)
    .replace(NAME_FOLLOWS, "$1 ")
    .replace(TITLE, (_, title: string) => `${title.toLowerCase()} `)
    .replace(LABELLED, (label) => label.toLowerCase());
  // "Ana is married to Tom": the subject of a relation is a name, even at the start of a sentence.
  for (const [, pattern] of PATTERNS)
    for (const [, subject] of said.matchAll(pattern)) {
      const name = withoutOpening(subject!).replace(/['’]s$/, "");
      if (/^\p{Lu}\p{Ll}/u.test(name) && !NO_NAMES.test(name)) sure.set(name.toLowerCase(), name);
    }
  for (const [, pattern] of SMALL_PATTERNS)
    for (const [, subject] of said.matchAll(pattern)) if (!NO_NAMES.test(subject!)) maybe.set(subject!, subject!);
  for (const found of said.matchAll(NAMES)) {
    const [words] = found;
    const keep = (among: Map<string, string>, part: string) => {
      const from = found.index + words.indexOf(part);
      const end = from + part.length;
      const around = { before: said.slice(Math.max(0, from - 8), from), after: said.slice(end, end + 8) };
      const name = withoutTimes(part.replace(/['’]s$/, ""), around);
      if (name !== "" && !/^I['’]/.test(name) && !NO_NAME_ALONE.test(name) && among.size < MOST_NAMES)
        among.set(name.toLowerCase(), name);
    };
    if (!isStart(said, found.index, found.index + words.length)) {
      keep(sure, words);
      continue;
    }
    // "Ann Smith lives in Rome" has been read above.
    if (sure.has(words.toLowerCase())) continue;
    const [first = "", ...rest] = words.split(" ");
    // "Yesterday Tom came": only the second word's capital says something.
    if (rest.length) keep(sure, rest.join(" "));
    if (rest.length) keep(maybe, words);
    keep(maybe, first);
  }
  const listed = (among: Map<string, string>, isSure: boolean) =>
    [...among].map(([norm, name]) => ({ norm, name, isSure }));
  return [...listed(sure, true), ...listed(maybe, false).filter(({ norm }) => !sure.has(norm))];
}

/** What a line of a list or a quote begins with. */
const MARKED_LINE = /(?:^|\n)[ >#*•–-]{0,6}(?:\[[ x]\] )?(?:\d{1,3}[.)] )?$/;

/** Whether a capital there only says that a sentence or a line begins. A quoted name is no sentence. */
function isStart(said: string, from: number, end: number): boolean {
  if (from === 0) return true;
  if (/["“]/.test(said[from - 1]!)) return !/["”]/.test(said[end] ?? "");
  const before = said.slice(Math.max(0, from - 20), from);
  return /[.!?…:]["”’)]{0,2} $/.test(before) || MARKED_LINE.test(from > 20 ? `.${before}` : before);
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
    const rows = [...question.matchAll(/(?<=\s)\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+){0,3}/gu)].map(([name]) =>
      name.toLowerCase().replace(/['’]s$/, ""),
    );
    // The full name first; of somebody known by one of its words that one is asked for, too.
    const names = [...new Set([...rows, ...rows.flatMap((row) => row.split(" "))])].slice(0, MOST_ASKED);
    const own = /\b(i|my|me|we|our|am)\b/i.test(question);
    // Without a capital any word may be the name; only one that such a relation was said of leads anywhere.
    const words = own || names.length ? names : smallWords(question);
    return { relation, subjects: own ? ["self", ...words] : words };
  }
  return undefined;
}

const MOST_ASKED = 12;

function smallWords(question: string): string[] {
  const words = question.toLowerCase().match(/\p{L}[\p{L}'’-]{2,}/gu) ?? [];
  return [...new Set(words.map((word) => word.replace(/['’]s$/, "")))].slice(0, MOST_ASKED);
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
