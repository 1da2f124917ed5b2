/** What models are told about tools: long enough to be used right the first time, short enough to be paid for on every call. */
import { expect, test } from "vitest";
import { EXAMPLE_PATCH } from "./files/apply-patch.ts";
import { parsePatch } from "./files/patch/parse.ts";
import { createTools } from "./index.ts";

const specs = createTools().specs();
const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);

test.each(specs.map((spec) => [spec.name, spec] as const))(
  "%s says what it does, when to use it, and its limits",
  (_, spec) => {
    expect(tokens(spec.description)).toBeGreaterThanOrEqual(15);
    expect(tokens(spec.description)).toBeLessThanOrEqual(120);
  },
);

test("the numbers told are the constants in force", () => {
  const told = Object.fromEntries(specs.map((spec) => [spec.name, JSON.stringify(spec)]));
  expect(told.read).toMatch(/up to 2000 lines or 64 KB/);
  expect(told.exec).toMatch(/up to 30,000 characters/);
  expect(told.exec).toMatch(/default 120, max 600/);
  expect(told.list).toMatch(/at most 500/);
  expect(told.search).toMatch(/default 100/);
});

test("the example of a patch is one that the parser accepts", () => {
  expect(parsePatch(EXAMPLE_PATCH).map(({ kind }) => kind)).toEqual(["update", "add"]);
});
