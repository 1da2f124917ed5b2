import { expect, expectTypeOf, test } from "vitest";
import { defined, truthy } from "./defined.ts";

const EVERY_KIND = { a: undefined, b: null, c: "", d: 0, e: false, f: Number.NaN, g: "text", h: [] };

test("defined leaves out what is undefined, and nothing else", () => {
  expect(Object.keys(defined(EVERY_KIND))).toEqual(["b", "c", "d", "e", "f", "g", "h"]);
});

test("truthy leaves out what an if would", () => {
  expect(truthy(EVERY_KIND)).toStrictEqual({ g: "text", h: [] });
});

test("a field that is left out does not overwrite an earlier one", () => {
  const turn = undefined as string | undefined;
  expect({ turn: "t1", ...defined({ turn }) }).toStrictEqual({ turn: "t1" });
});

test("the fields keep their order, so that hashes and prompts stay the same", () => {
  expect(Object.keys({ z: 1, ...defined({ y: 2, x: undefined, w: 3 }), a: 4 })).toEqual(["z", "y", "w", "a"]);
});

test("the types of the fields are optional, without what was left out, and literals stay literals", () => {
  const error = undefined as string | null | undefined;
  expectTypeOf(defined({ error })).toEqualTypeOf<{ error?: string | null }>();
  expectTypeOf(truthy({ error })).toEqualTypeOf<{ error?: string }>();
  expectTypeOf(truthy({ isError: true as boolean })).toEqualTypeOf<{ isError?: true }>();
  expectTypeOf(defined({ kind: "note" })).toEqualTypeOf<{ kind?: "note" }>();
});
