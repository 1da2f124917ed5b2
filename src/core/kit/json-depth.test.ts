import { expect, test } from "vitest";
import { expectLinear } from "../../../test/support/growth.ts";
import { isTooDeepYaml } from "./json-depth.ts";

test.each([
  ["brackets", "[".repeat(8192)],
  ["braces that close again", `${"{a: ".repeat(101)}${"}".repeat(101)}`],
  ["dashes on one line", "- ".repeat(8000)],
  ["question marks on one line", "? ".repeat(8000)],
  ["dashes and colons with tabs", "-\t:\t".repeat(4000)],
  ["indentation", Array.from({ length: 200 }, (_, n) => `${" ".repeat(n)}a:`).join("\n")],
])("YAML nested too deeply by %s", (_how, text) => {
  expect(isTooDeepYaml(text)).toBe(true);
});

test.each([
  ["a long list", "- a: [1, 2]\n".repeat(1000)],
  ["a text with closing brackets", `a: ${")]}".repeat(500)}`],
  ["many keys of one depth", "a:\n  b: { c: [] }\n".repeat(500)],
  ["a long rule", `---\n${"-".repeat(500)}\n`],
  ["one level less than the bound", "[".repeat(100)],
])("%s is not too deep", (_what, text) => {
  expect(isTooDeepYaml(text)).toBe(false);
});

test("a text of any shape is looked at in one pass", () => {
  for (const shape of ["- ", "a\n b\n", "[]", " ", "\n", "? x\n"])
    expectLinear((size) => isTooDeepYaml(shape.repeat(size), 1e9), 256 * 1024);
});
