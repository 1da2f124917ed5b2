import { expect, test } from "vitest";
import { expectLinear } from "../../../../../test/support/growth.ts";
import type { Json, JsonObject } from "../../../../core/domain/index.ts";
import { misfit } from "./arguments.ts";

const issue: JsonObject = {
  type: "object",
  properties: {
    title: { type: "string", minLength: 1, maxLength: 5 },
    state: { enum: ["open", "closed"] },
    count: { type: "integer", minimum: 1, maximum: 9 },
    labels: { type: "array", items: { type: "string" }, maxItems: 2 },
    who: { $ref: "#/$defs/person" },
    where: {
      anyOf: [{ type: "string" }, { type: "object", required: ["id"], properties: { id: { type: "number" } } }],
    },
  },
  required: ["title"],
  additionalProperties: false,
  $defs: { person: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
};

test.each<[Json, string | undefined]>([
  [{ title: "a" }, undefined],
  [{ title: "a", state: "open", count: 3, labels: ["x"], who: { name: "Ana" }, where: { id: 1 } }, undefined],
  [{}, "input.title is missing"],
  [{ title: 1 }, "input.title must be string, not number"],
  [{ title: "" }, "input.title's length must be at least 1"],
  [{ title: "abcdef" }, "input.title's length must be at most 5"],
  [{ title: "a", state: "shut" }, 'input.state must be one of ["open","closed"]'],
  [{ title: "a", count: 1.5 }, "input.count must be integer, not number"],
  [{ title: "a", count: 10 }, "input.count must be at most 9"],
  [{ title: "a", labels: [1] }, "input.labels[0] must be string, not number"],
  [{ title: "a", labels: ["x", "y", "z"] }, "input.labels's length must be at most 2"],
  [{ title: "a", who: {} }, "input.who.name is missing"],
  [
    { title: "a", where: {} },
    "input.where fits none of the 2 shapes it may have (input.where must be string, not object)",
  ],
  [{ title: "a", tilte: "b" }, 'there is no input.tilte; did you mean "title"?'],
  ["text", "input must be object, not string"],
  [[], "input must be object, not an array"],
])("%j: %s", (value, problem) => {
  expect(misfit(issue, value)).toBe(problem);
});

test("a schema that was made to be slow is given up on, and what nobody knows passes", () => {
  const levels = Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => [
      `l${n}`,
      { anyOf: [{ $ref: `#/$defs/l${n + 1}` }, { $ref: `#/$defs/l${n + 1}` }] },
    ]),
  );
  const slow: JsonObject = { $ref: "#/$defs/l0", $defs: { ...levels, l60: { type: "string" } } };
  let steps = 0;
  const counted = new Proxy(slow, {
    get(target, key) {
      steps++;
      return Reflect.get(target, key);
    },
  });
  expect(misfit(counted, {})).toBeUndefined();
  expect(steps).toBeLessThan(1_000_000);
  expect(misfit({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }, {})).toBeUndefined();
  expect(misfit({ $ref: "https://elsewhere.example/schema" }, {})).toBeUndefined();
  expect(misfit({ type: "banana" }, {})).toBeUndefined();
});

/** Each took minutes where steps didn't count what they cost. Both sides are a server's where a structured answer is checked. */
const times = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));
const shared = (count: number, a: JsonObject): JsonObject => ({
  allOf: times(count, () => ({ $ref: "#/$defs/a" })),
  $defs: { a },
});
test.each<[string, (size: number) => [schema: JsonObject, value: Json]]>([
  [
    "many choices for a long text",
    (size) => [{ properties: { a: { enum: times(size, (n) => n) } } }, { a: "x".repeat(125 * size) }],
  ],
  [
    "many conditions on a long text",
    (size) => [{ properties: { a: { allOf: times(size, () => ({})) } } }, { a: "x".repeat(125 * size) }],
  ],
  [
    "a long reference, followed often",
    (size) => [{ properties: { a: { items: { $ref: `#${"/".repeat(8 * size)}` } } } }, { a: times(3 * size, () => 1) }],
  ],
  [
    "many fields, looked at often",
    (size) => [{ allOf: times(size, () => ({})) }, Object.fromEntries(times(12 * size, (n) => [`k${n}`, 1]))],
  ],
  [
    "long lists behind references",
    (size) => [shared(size / 4, { required: times(size, () => "k"), type: times(size, () => "object") }), { k: 1 }],
  ],
  [
    "a value without a floor",
    (size) => [{ $ref: "#/$defs/a", $defs: { a: { items: { $ref: "#/$defs/a" } } } }, nested(12 * size)],
  ],
])("%s takes linear time at most (MC-17, MCP-31)", (_what, make) => {
  expectLinear((size) => misfit(...make(size)), 8000);
});

function nested(levels: number): Json {
  let value: Json = 1;
  for (let n = 0; n < levels; n++) value = [value];
  return value;
}
