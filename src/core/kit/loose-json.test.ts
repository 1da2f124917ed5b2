import { expect, test } from "vitest";
import { looseJson } from "./loose-json.ts";

test("settings as people write them are read", () => {
  expect(looseJson("{ // mine\n agents: { list: [{ id: 'main', }], }, }")).toEqual({
    agents: { list: [{ id: "main" }] },
  });
});

test.each([
  ["brackets", "[".repeat(8192)],
  ["brackets that close again", `${"[".repeat(8192)}${"]".repeat(8192)}`],
  ["names without quotes", `${"{a:".repeat(8192)}1`],
  ["dashes", "- ".repeat(20_000)],
  ["brackets behind comments", "/**/[".repeat(8192)],
])("deeply nested %s are no settings, and do not end the process", (_how, text) => {
  expect(looseJson(text)).toBeUndefined();
});

test("reads JSON as people edit it", () => {
  const text = `// settings
  {
    agent: { workspace: '~/w', /* not "here" */ "list": [1, -2.5, +3, 0x10, true, null,], },
    'it\\'s': "a // b \\u00e9 \\x41", url: "https://a.example/*b*/",
    multi: "one \\
two",
  } // end`;
  expect(looseJson(text)).toEqual({
    agent: { workspace: "~/w", list: [1, -2.5, 3, 16, true, null] },
    "it's": "a // b é A",
    url: "https://a.example/*b*/",
    multi: "one two",
  });
});

test.each(["", "{", "[1, 2", "{a}", "{a: }", "{a: 1} b", '"a', "hello", "[1 2]", "{: 1}", "\\"])(
  "%s is nothing",
  (text) => {
    expect(looseJson(text)).toBeUndefined();
  },
);

test("a name cannot reach the prototype, and depth is bounded", () => {
  const read = looseJson("{__proto__: {polluted: true}}") as Record<string, unknown>;
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  expect(looseJson("[".repeat(100_000))).toBeUndefined();
});
