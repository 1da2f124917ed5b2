/**
 * Text as a person must see it before saying yes: what a terminal or a chat would hide, reorder or obey is spelt out.
 * Line breaks and tabs stay, because a command of several lines has to be readable as such.
 *
 * V1: two texts that look alike to a person but differ in bytes do not look alike after `visible`.
 */

// Controls, formats (bidi, zero-width, tags), separators, private use, lone surrogates, every blank that is not a plain
// space (a no-break space is part of a word for the shell), and whatever renderers leave out.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
const PLAIN = new Set([" ", "\n", "\t"]);

/** Control, bidi and zero-width characters as `\u{…}`; everything else unchanged. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (sign) => (PLAIN.has(sign) ? sign : `\\u{${sign.codePointAt(0)!.toString(16)}}`));
}

/** The same on one line: for names and paths, where a line break would fake a second line. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "\\u{a}").replaceAll("\t", "\\u{9}");
}

/**
 * Controls say nothing to a reader; tag characters and invisible fillers spell out words that only a model sees. Joiners stay:
 * several scripts and emoji need them.
 */
export function withoutHidden(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e0fff}]/gu, "");
}
