import { expect, test } from "vitest";
import { expectLinear } from "../../../test/support/growth.ts";
import { jsonProblem } from "./json-problem.ts";

test.each([
  ['{"a":1', 'it ends after 6 characters, where "," or "}" should follow'],
  ['{"a":"b', "it ends after 7 characters, where the closing quotation mark should follow"],
  ['{"a" 1}', 'at character 6 of 7 ":" should stand, not "1"; around it: {"a" 1}'],
  ["{a:1}", 'at character 2 of 5 a name in double quotes or "}" should stand, not "a"; around it: {a:1}'],
  ['{"a":1,}', 'at character 8 of 8 a name in double quotes should stand, not "}"; around it: {"a":1,}'],
  ["ls -l", 'at character 1 of 5 a value should stand, not "l"; around it: ls -l'],
  ['{"a":1} and', 'at character 9 of 11 nothing more should stand, not "a"; around it: {"a":1} and'],
  ['["x" "y"]', 'at character 6 of 9 "," or "]" should stand, not "\\""; around it: ["x" "y"]'],
  ['{"a":"\\x"}', /one of " \\ \/ b f n r t u after a backslash should stand, not "x"/],
  ['{"a":"one\ntwo"}', /at character 10 of 15 the escape \\n or \\t should stand/],
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

test("a megabyte of brackets is read once", () => {
  expect(jsonProblem("[".repeat(1_000_000))).toMatch(/^it ends after 1000000/);
  expectLinear((size) => jsonProblem("[".repeat(size)), 1_000_000);
});
