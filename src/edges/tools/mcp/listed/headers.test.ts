import { expect, test } from "vitest";
import { findHeaderProblem } from "./headers.ts";

const header = (name: unknown, type: unknown = "string") => ({ type, "x-mcp-header": name });
const schema = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

test("plain parameters may be repeated in headers, also nested ones and ones with such a name", () => {
  expect(findHeaderProblem(schema({ region: header("Region"), count: header("Count", "integer") }))).toBeUndefined();
  expect(findHeaderProblem(schema({ place: schema({ region: header("Region") }) }))).toBeUndefined();
  expect(findHeaderProblem(schema({ "x-mcp-header": { type: "string" } }))).toBeUndefined();
});

test.each<[string, object, string]>([
  ["an empty name", schema({ a: header("") }), "without a valid name"],
  ["a name with a blank", schema({ a: header("My Region") }), "without a valid name"],
  ["a name that is no text", schema({ a: header(7) }), "without a valid name"],
  ["a list", schema({ a: header("A", "array") }), "isn't a text"],
  ["a number with a fraction", schema({ a: header("A", "number") }), "isn't a text"],
  ["the same name twice", schema({ a: header("Region"), b: header("region") }), "twice"],
  ["an element of a list", schema({ a: { type: "array", items: header("A") } }), "no plain parameter"],
  ["one of several shapes", schema({}, { anyOf: [schema({ a: header("A") })] }), "no plain parameter"],
  ["the whole", { ...schema({}), "x-mcp-header": "A" }, "no plain parameter"],
])("a tool with a header for %s can't be used", (_, given, why) => {
  expect(findHeaderProblem(given)).toContain(why);
});
