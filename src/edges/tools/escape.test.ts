import { expect, test } from "vitest";
import { visible, visibleLine } from "./escape.ts";

test.each([
  ["an escape sequence", "a\u001b[2Kb", "a\\u{1b}[2Kb"],
  ["a carriage return that overwrites the line", "pwn\rls", "pwn\\u{d}ls"],
  ["a bidi override", "a\u202eb", "a\\u{202e}b"],
  ["a zero-width space", "rm\u200b", "rm\\u{200b}"],
  ["a no-break space", "a\u00a0b", "a\\u{a0}b"],
  ["a tag character beyond the basic plane", "a\u{e0041}", "a\\u{e0041}"],
  ["a lone surrogate", "a\ud800b", "a\\u{d800}b"],
  ["a Hangul filler", "a\u3164", "a\\u{3164}"],
  ["a line separator", "a\u2028b", "a\\u{2028}b"],
  ["a Braille cell without dots", "rm\u2800x", "rm\\u{2800}x"],
  ["a word of two scripts", "\u0440\u0443thon3", "\\u{440}\\u{443}thon3"],
  ["a letter that passes for a Latin one in a name", "\u0430.py", "\\u{430}.py"],
  ["a Greek letter among Latin ones", "r\u03bfot", "r\\u{3bf}ot"],
  [
    "a fifth mark on one letter",
    "a\u0301\u0302\u0303\u0304\u0305\u0306b",
    "a\u0301\u0302\u0303\u0304\\u{305}\\u{306}b",
  ],
])("%s is spelt out", (_name, text, shown) => {
  expect(visible(text)).toBe(shown);
});

test("ordinary text in any script, line breaks and tabs stay as they are", () => {
  const text = "ls -la\n\tGrüße, мир, 世界, 😀, а с хором, python3 отчёт.py, Tiếng Việt, Αθήνα";
  expect(visible(text)).toBe(text);
});

test("on one line a line break is spelt out, too", () => {
  expect(visibleLine("a\nb\tc")).toBe("a\\u{a}b\\u{9}c");
});
