import { expect, test } from "vitest";
import { matchesGlob } from "./glob.ts";

test.each([
  ["*.ts", "a.ts", true],
  ["*.ts", "a/b.ts", false],
  ["**.ts", "a/b.ts", true],
  ["a/**", "a", false],
  ["a/**", "a/b/c", true],
  ["**/b", "b", true],
  ["**/b", "a/c/b", true],
  ["**/b", "a//b", false],
  ["a?c", "a/c", false],
  ["?", "😀", true],
  ["a.c", "abc", false],
  ["[ab]", "a", false],
  ["A", "a", false],
  ["", "", true],
])("%s against %s", (glob, text, expected) => {
  expect(matchesGlob(glob, text)).toBe(expected);
});

test("says of any pattern and text what the expression for it would say", () => {
  const signs = ["a", "b", "/", "*", "**", "?", "**/", "😀", "\n"];
  const word = (from: readonly string[], length: number) =>
    Array.from({ length }, () => from[Math.floor(Math.random() * from.length)]).join("");
  for (let n = 0; n < 20_000; n++) {
    const [glob, text] = [word(signs, 1 + (n % 7)), word(["a", "b", "/", "😀", "*", "\n"], n % 9)];
    expect({ glob, text, is: matchesGlob(glob, text) }).toEqual({ glob, text, is: expressionOf(glob).test(text) });
  }
});

/** Exponential in its wildcards, which is why it is not what the gate uses. */
function expressionOf(glob: string): RegExp {
  const parts = glob.split(/(\*\*\/|\*\*|\*|\?)/).map((part) => {
    const wild = { "**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]" }[part];
    return wild ?? part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("")}$`, "su");
}
