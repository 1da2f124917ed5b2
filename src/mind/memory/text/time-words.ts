/**
 * Names of months and weekdays, as Unicode's locale data (CLDR, through Intl) has them. Only languages that write them with a
 * capital matter: elsewhere a capital says that a word is not meant as a time ("Domingo").
 */

/** Languages people write to Lares in; the data itself says which of them use capitals. */
const LOCALES: readonly string[] = [
  "en-US",
  "en-GB",
  "de",
  "nl",
  "fr",
  "es",
  "it",
  "pt",
  "sv",
  "da",
  "nb",
  "fi",
  "pl",
  "cs",
  "tr",
  "el",
];
/** Short for January, and a name that many people have: a time only beside a number. */
const ALSO_A_NAME: ReadonlySet<string> = new Set(["jan"]);
const LEAST_LETTERS = 3;
const LEAST_PLURAL = 7;

let made: ReadonlySet<string> | undefined;

export function isTimeWord(word: string, beside: { before: string; after: string }): boolean {
  made ??= makeTimeWords();
  const lower = word.toLowerCase();
  // "on Sundays". "Mars" is no March.
  const plain = lower.length >= LEAST_PLURAL && lower.endsWith("s") && !made.has(lower) ? lower.slice(0, -1) : lower;
  if (!made.has(plain)) return false;
  return !ALSO_A_NAME.has(plain) || /\d\S{0,3}\s*$/.test(beside.before) || /^[.,]?\s*\d/.test(beside.after);
}

function makeTimeWords(): Set<string> {
  const words = new Set<string>();
  for (const locale of LOCALES)
    for (const style of ["long", "short"] as const)
      for (const options of [{ month: style }, { month: style, day: "numeric" }, { weekday: style }] as const) {
        const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" });
        // Every month once, and every weekday.
        for (let n = 0; n < 12; n++)
          for (const { type, value } of format.formatToParts(
            "weekday" in options ? Date.UTC(2026, 0, 1 + n) : Date.UTC(2026, n, 1),
          ))
            if (type === "month" || type === "weekday") addWord(words, value.replace(/\.$/, ""));
      }
  return words;
}

/** Two letters ("Mo", "Do") are too little to tell a weekday from a word. */
function addWord(words: Set<string>, word: string): void {
  if (/^\p{Lu}/u.test(word) && word.length >= LEAST_LETTERS) words.add(word.toLowerCase());
}
