/**
 * Facts that have one value at a time: where somebody lives, what the favourite colour is. A newer one about the same subject and
 * relation takes the older one's place, so that contradictions do not pile up. A plain rule: what it does not recognise stays
 * beside the old.
 */
import { selfTopic } from "../../core/domain/index.ts";
import { readSpeaker } from "./text/analyse.ts";

/** Longer texts say more than one thing. */
const LONGEST = 200;
const SELF = /^(i|me|my|mine|we|our|the user|user|the owner|owner|he|she|they|his|her|their)$/i;

const ATTRIBUTE =
  /^(.{1,40}?)(?:['’]s|(?<=\bmy|\bour|\bhis|\bher|\btheir))\s+((?:favou?rite|preferred|current|new|home|work|mobile)\s+[\w-]+(?:\s+[\w-]+)?|(?:first |last |full |nick)?name|birthday|birth date|date of birth|age|e-?mail(?: address)?|phone(?: number)?|(?:home |work )?address|time ?zone|job|job title|employer|company|wife|husband|partner|spouse|boss|manager|home ?town|blood type|shoe size|language|nationality|star sign|car|bank|doctor|dentist)\s+(?:is|are|was|=|:)\s+(?:now\s+)?\S/i;

const VERBS: readonly [relation: string, pattern: RegExp][] = [
  [
    "lives in",
    /^(.{1,40}?)\s+(?:now\s+|currently\s+)?(?:lives?|resides?|(?:is|am|are|['’]m) (?:now )?(?:living|based))\s+(?:in|at|near)\s+\S/i,
  ],
  ["lives in", /^(.{1,40}?)\s+(?:has |have |['’]ve )?(?:just |recently )?moved\s+to\s+\S/i],
  [
    "works at",
    /^(.{1,40}?)\s+(?:now\s+|currently\s+)?(?:works?|(?:is|am|are|['’]m) (?:now )?(?:working|employed))\s+(?:at|for|with)\s+\S/i,
  ],
  [
    "works as",
    /^(.{1,40}?)\s+(?:now\s+|currently\s+)?(?:works?|(?:is|am|are|['’]m) (?:now )?(?:working|employed))\s+as\s+\S/i,
  ],
  ["is married to", /^(.{1,40}?)\s+(?:is|am|are|['’]m)\s+(?:now\s+)?(?:married|engaged)\s+to\s+\S/i],
  ["is called", /^(.{1,40}?)\s+(?:is|am|are|['’]m)\s+(?:called|named)\s+\S/i],
  ["is called", /^(.{1,40}?)\s+(?:goes|go)\s+by\s+\S/i],
];

/** Subject and relation of a fact, in one spelling; undefined when it is not such a fact. */
export function findTopic(text: string, person: string | undefined): string | undefined {
  const plain = text.trim();
  if (plain.length > LONGEST || plain.includes("\n") || readSpeaker(plain)) return undefined;
  const attribute = ATTRIBUTE.exec(plain);
  if (attribute) return topic(attribute[1]!, attribute[2]!, person);
  for (const [relation, pattern] of VERBS) {
    const found = pattern.exec(plain);
    if (found) return topic(found[1]!, relation, person);
  }
  return undefined;
}

function topic(subject: string, relation: string, person: string | undefined): string {
  const who = subject.trim().replace(/^the\s+/i, "");
  const name = SELF.test(subject.trim()) || SELF.test(who) ? selfTopic(person) : who.toLowerCase();
  return `${name} | ${relation
    .toLowerCase()
    .replace(/favour/, "favor")
    .replace(/^(?:current|new) /, "")
    .replace(/\s+/g, " ")}`;
}
