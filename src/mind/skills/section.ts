/**
 * What a session's prompt says of skills, and what a search for one finds. Pure: the same skills give the same bytes.
 *
 * SKILLS-2: the section costs at most what it is given, for any number of skills; without skills it is empty.
 * SKILLS-3: words that are not the owner's own stand in no prompt: of an imported skill only the name does.
 */

/** What the section and the search know of a skill. */
export interface Listed {
  name: string;
  description: string;
  /** Its words are the owner's own. */
  own: boolean;
}

const HEAD =
  "# Skills\n\nWays to do things. When one fits or /NAME is said, first read skill:NAME; tool_search finds more.\n";
/** A description longer than this is read with the skill itself. */
const LONGEST = 160;
/** Less of a description says nothing. */
const SHORTEST = 24;

/** Names with as much of each description as fits, the same for all; else the names; else as many names as fit. */
export function section(skills: readonly Listed[], tokens: number): string {
  if (skills.length === 0) return "";
  const sorted = [...skills].sort((a, b) => (a.name < b.name ? -1 : 1));
  const room = tokens * 4;
  const lines = (most: number) =>
    HEAD +
    sorted.map(({ name, description, own }) => `- ${name}${own ? `: ${clip(description, most)}` : ""}`).join("\n");
  if (quarters(lines(SHORTEST)) <= room) {
    let [low, high] = [SHORTEST, LONGEST];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (quarters(lines(middle)) <= room) low = middle;
      else high = middle - 1;
    }
    return lines(low);
  }
  const names = (count: number) => {
    const left = sorted.length - count;
    const shown = sorted.slice(0, count).map(({ name }) => name);
    return HEAD + [...shown, ...(left ? [`${left} more`] : [])].join(", ");
  };
  let [few, all] = [0, sorted.length];
  while (few < all) {
    const middle = Math.ceil((few + all) / 2);
    if (quarters(names(middle)) <= room) few = middle;
    else all = middle - 1;
  }
  return few > 0 ? names(few) : "";
}

/** A question longer than this is a text, and each of its words is held against each word of every skill. */
const MOST_WORDS_ASKED = 50;

/** Best first: words of the question in the name count more than in the description. */
export function searchSkills<T extends Listed>(skills: readonly T[], query: string, most: number): T[] {
  const words = splitWords(query).slice(0, MOST_WORDS_ASKED);
  const scored = skills.map((skill) => {
    const [name, about] = [splitWords(skill.name), splitWords(skill.description)];
    let score = skill.name === query.trim().toLowerCase() ? 100 : 0;
    for (const word of words) score += 4 * closeness(word, name) + closeness(word, about);
    return { skill, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1))
    .slice(0, most)
    .map(({ skill }) => skill);
}

/** The word itself, or one that begins alike: "deploying" and "deploys". */
function closeness(word: string, among: readonly string[]): number {
  if (among.includes(word)) return 2;
  const stem = word.slice(0, Math.max(4, word.length - 3));
  return word.length >= 4 && among.some((one) => one.startsWith(stem)) ? 1 : 0;
}

function splitWords(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1 && !DULL.has(word));
}

const DULL: ReadonlySet<string> = new Set(
  "an and are can do for from how in is it of on or skill skills that the this to use when with you".split(" "),
);

function clip(text: string, most: number): string {
  if (text.length <= most) return text;
  // Not in the middle of a sign of two halves.
  const end = /[\ud800-\udbff]/.test(text[most - 2] ?? "") ? most - 2 : most - 1;
  return `${text.slice(0, end).trimEnd()}…`;
}

/** Quarters of a token as requests are counted: a letter is one, a line's end and a quote two, other scripts more. */
function quarters(text: string): number {
  let sum = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    sum += countQuarters(code);
  }
  return sum;
}

function countQuarters(code: number): number {
  if (code === 0x0a || code === 0x22 || code === 0x5c) return 2;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x2e80 ? 3 : 4;
}
