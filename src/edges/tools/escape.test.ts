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
])("%s is spelt out", (_name, text, shown) => {
  expect(visible(text)).toBe(shown);
});

test("ordinary text in any script, line breaks and tabs stay as they are", () => {
  const text = "ls -la\n\tGrüße, мир, 世界, 😀";
  expect(visible(text)).toBe(text);
});

test("on one line a line break is spelt out, too", () => {
  expect(visibleLine("a\nb\tc")).toBe("a\\u{a}b\\u{9}c");
});
