/**
 * Text as a person must see it before saying yes: what a terminal or a chat would hide, reorder or obey is spelt out.
 * Line breaks and tabs stay, because a command of several lines has to be readable as such.
 *
 * VISIBLE-1: two texts that look alike to a person but differ in bytes do not look alike after `visible`.
 */

// Controls, formats (bidi, zero-width, tags), separators, private use, lone surrogates, every blank that is not a plain
// space (a no-break space is part of a word for the shell), whatever renderers leave out, and the Braille cell without dots.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const PLAIN = new Set([" ", "\n", "\t"]);

/** Nobody's writing puts more marks than this on one letter; piled up they cover the lines around them. */
const MOST_MARKS = 4;
const RUN = /\S+/gu;
const WORD = /[\p{L}\p{N}_]+/gu;
const LATIN = /\p{Script=Latin}/u;
/** Letters of scripts that share shapes with the Latin one. */
const ALIKE =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/gu;
/** Words all of whose letters pass for Latin ones. */
const LOOKS_LATIN = /^[аеорсухіјѕһԁԛԝАВЕКМНОРСТУХЅІЈԌνορυχικαΑΒΕΖΗΙΚΜΝΟΡΤΥΧոսցքօհՏՕ\d_]+$/u;

/**
 * Control, bidi and zero-width characters as `\u{…}`, and so are letters that pass for Latin ones and marks piled on a letter;
 * everything else unchanged.
 */
export function visible(text: string): string {
  const plain = text.replace(HIDDEN, (sign) => (PLAIN.has(sign) ? sign : spelt(sign)));
  if (/^[\0-\x7f]*$/.test(plain)) return plain;
  return withoutPiles(plain).replace(RUN, undisguised);
}

/** `руthon3` mixes scripts in a word, `а.py` beside one; `отчёт.py` and plain Russian can't be mistaken and stay. */
function undisguised(run: string): string {
  if (!LATIN.test(run) || run.search(ALIKE) < 0) return run;
  return run.replace(WORD, (word) => (LATIN.test(word) || LOOKS_LATIN.test(word) ? word.replace(ALIKE, spelt) : word));
}

function withoutPiles(text: string): string {
  let marks = 0;
  let out = "";
  for (const sign of text) {
    marks = /\p{M}/u.test(sign) ? marks + 1 : 0;
    out += marks > MOST_MARKS ? spelt(sign) : sign;
  }
  return out;
}

function spelt(sign: string): string {
  return `\\u{${sign.codePointAt(0)!.toString(16)}}`;
}

/** The same on one line: for names and paths, where a line break would fake a second line. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "\\u{a}").replaceAll("\t", "\\u{9}");
}

/** Every line marked as somebody else's words: none of them can pass for a line of Lares' own. */
export function quoteLines(text: string): string {
  return withoutHidden(text)
    .trimEnd()
    .split(/[\n\u2028\u2029]/)
    .map((line) => (line === "" ? ">" : `> ${line}`))
    .join("\n");
}

/**
 * Controls say nothing to a reader; tag characters and invisible fillers (soft hyphens and zero-width spaces among them) spell out or
 * break up words that only a model sees. Joiners (U+200C, U+200D) stay: Persian, Indic scripts and emoji need them.
 */
export function withoutHidden(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e0fff}]/gu, "");
}
