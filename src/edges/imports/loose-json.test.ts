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
