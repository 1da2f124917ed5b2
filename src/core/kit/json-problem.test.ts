import { expect, test } from "vitest";
import { expectLinear } from "../../../test/support/growth.ts";
import fc from "../../../test/support/property.ts";
import { jsonProblem } from "./json-problem.ts";

test.each([
  ['{"a":1', 'it ends after 6 characters, where "," or "}" should follow'],
  ['{"a":"b', "it ends after 7 characters, where the closing quotation mark should follow"],
  ['{"a" 1}', '":" is expected at character 6 of 7 instead of "1", near: {"a" 1}'],
  ["{a:1}", 'a name in double quotes or "}" is expected at character 2 of 5 instead of "a", near: {a:1}'],
  ['{"a":1,}', 'a name in double quotes is expected at character 8 of 8 instead of "}", near: {"a":1,}'],
  ["ls -l", 'a value is expected at character 1 of 5 instead of "l", near: ls -l'],
  ['{"a":1} and', 'the end of the text is expected at character 9 of 11 instead of "a", near: {"a":1} and'],
  ['["x" "y"]', '"," or "]" is expected at character 6 of 9 instead of "\\"", near: ["x" "y"]'],
  ['{"a":"\\x"}', /one of " \\ \/ b f n r t u after a backslash is expected at character 8 of 10 instead of "x"/],
  ['{"a":"one\ntwo"}', /an escape such as \\n or \\t is expected at character 10 of 15/],
  ['{"a":01}', /a number such as -1, 0\.5 or 1e3 is expected at character 6 of 8 instead of "0"/],
  ["[1.]", /a number such as -1, 0\.5 or 1e3 is expected at character 2 of 4/],
  ['{"a":"\\u12g4"}', /a code of four hexadecimal digits after \\u is expected at character 9 of 14/],
  ["\uFEFF{}", /a value is expected at character 1 of 3 instead of an invisible byte order mark/],
  ["", "it ends after 0 characters, where a value should follow"],
])("%s", (text, expected) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(jsonProblem(text)).toEqual(typeof expected === "string" ? expected : expect.stringMatching(expected));
});

test.each(['{"a":[1,2,{"b":null}],"c":"\\u00e4\\n"}', "[]", " {} ", '"x"', "-1.5e3"])(
  "nothing is wrong with %s",
  (text) => {
    JSON.parse(text);
    expect(jsonProblem(text)).toBeUndefined();
  },
);

test("everything that JSON.parse refuses is explained here, and nothing else is", () => {
  const piece = fc.constantFrom(...'{}[]:,"\\ \n01-+.eE', "true", "null", "u00e4", "x", "é", "\u2028");
  const text = fc.array(piece, { maxLength: 12 }).map((all) => all.join(""));
  fc.assert(
    fc.property(text, (one) => {
      let isFine = true;
      try {
        JSON.parse(one);
      } catch {
        isFine = false;
      }
      expect(jsonProblem(one) === undefined).toBe(isFine);
    }),
    { numRuns: 2000 },
  );
});

test("a megabyte of brackets is read once", () => {
  expect(jsonProblem("[".repeat(1_000_000))).toMatch(/^it ends after 1000000/);
  expectLinear((size) => jsonProblem("[".repeat(size)), 1_000_000);
});
