/**
 * Porter's stemmer (1980): "swimming", "swims" → "swim". Ours rather than the index's own, so that what is searched, what is
 * scored and what another database would index are the same characters.
 */
const VOWEL = "[aeiouy]";
const CONSONANTS = "[^aeiou][^aeiouy]*";
const VOWELS = "[aeiouy][aeiou]*";
/** How many vowel-consonant sequences a stem has: more than none, exactly one, more than one. */
const SOME = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}`);
const ONE = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}(${VOWELS})?$`);
const MANY = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}${VOWELS}${CONSONANTS}`);
const HAS_VOWEL = new RegExp(`^(${CONSONANTS})?${VOWEL}`);
const SHORT = new RegExp(`^${CONSONANTS}${VOWEL}[^aeiouwxy]$`);

const STEP_2 = new Map(
  Object.entries({
    ational: "ate",
    tional: "tion",
    enci: "ence",
    anci: "ance",
    izer: "ize",
    bli: "ble",
    alli: "al",
    entli: "ent",
    eli: "e",
    ousli: "ous",
    ization: "ize",
    ation: "ate",
    ator: "ate",
    alism: "al",
    iveness: "ive",
    fulness: "ful",
    ousness: "ous",
    aliti: "al",
    iviti: "ive",
    biliti: "ble",
    logi: "log",
  }),
);
const STEP_3 = new Map(
  Object.entries({ icate: "ic", ative: "", alize: "al", iciti: "ic", ical: "ic", ful: "", ness: "" }),
);
const END_2 =
  /^(.+?)(ational|tional|enci|anci|izer|bli|alli|entli|eli|ousli|ization|ation|ator|alism|iveness|fulness|ousness|aliti|iviti|biliti|logi)$/;
const END_3 = /^(.+?)(icate|ative|alize|iciti|ical|ful|ness)$/;
const END_4 = /^(.+?)(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize)$/;

/** The stem of a lower-case English word. Anything else comes back nearly as it was. */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  // A "y" that begins a word is a consonant; marked so that the patterns see it as one.
  let w = word.startsWith("y") ? `Y${word.slice(1)}` : word;
  w = plural(w);
  w = past(w);
  const y = /^(.+?)y$/.exec(w);
  if (y && HAS_VOWEL.test(y[1]!)) w = `${y[1]}i`;
  w = swap(w, END_2, STEP_2);
  w = swap(w, END_3, STEP_3);
  const four = END_4.exec(w);
  if (four) {
    if (MANY.test(four[1]!)) w = four[1]!;
  } else {
    const ion = /^(.+?[st])ion$/.exec(w);
    if (ion && MANY.test(ion[1]!)) w = ion[1]!;
  }
  const e = /^(.+?)e$/.exec(w);
  if (e && (MANY.test(e[1]!) || (ONE.test(e[1]!) && !SHORT.test(e[1]!)))) w = e[1]!;
  if (w.endsWith("ll") && MANY.test(w)) w = w.slice(0, -1);
  return w.startsWith("Y") ? `y${w.slice(1)}` : w;
}

function plural(w: string): string {
  if (/(ss|i)es$/.test(w)) return w.slice(0, -2);
  return /[^s]s$/.test(w) ? w.slice(0, -1) : w;
}

function past(w: string): string {
  const eed = /^(.+?)eed$/.exec(w);
  if (eed) return SOME.test(eed[1]!) ? w.slice(0, -1) : w;
  const end = /^(.+?)(ed|ing)$/.exec(w);
  if (!end || !HAS_VOWEL.test(end[1]!)) return w;
  const rest = end[1]!;
  if (/(at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (/([^aeiouylsz])\1$/.test(rest)) return rest.slice(0, -1);
  return SHORT.test(rest) ? `${rest}e` : rest;
}

function swap(w: string, end: RegExp, by: ReadonlyMap<string, string>): string {
  const found = end.exec(w);
  return found && SOME.test(found[1]!) ? found[1]! + by.get(found[2]!)! : w;
}
