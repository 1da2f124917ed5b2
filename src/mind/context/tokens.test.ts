import { expect, it } from "vitest";
import { textTokens } from "./tokens.ts";

it.each([
  ["", 0],
  ["four", 1],
  ["fours", 2],
  ["ééee", 2],
  ["漢字", 2],
  ["a漢字é and plain again", 7],
])("%j costs %i tokens", (text, tokens) => {
  expect(textTokens(text)).toBe(tokens);
});
