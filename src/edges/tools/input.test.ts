import { expect, test } from "vitest";
import { z } from "zod";
import type { Json } from "../../core/domain/index.ts";
import { flag, parseInput, wholeNumber } from "./input.ts";

const schema = z.strictObject({
  command: z.string(),
  timeout_s: wholeNumber(1, 600).optional(),
  all: flag.optional(),
});
const parse = (input: Json) => parseInput("exec", schema, input);

test("an unknown field is refused with the nearest known one", () => {
  expect(() => parse({ command: "ls", timeout: 3 })).toThrow(/Unknown field "timeout"; did you mean "timeout_s"\?/);
});

test("an unknown field like none is refused with the known ones", () => {
  expect(() => parse({ command: "ls", zebra: 3 })).toThrow(/known fields are command, timeout_s, all/);
});

test("a missing field and a field out of range are named", () => {
  expect(() => parse({ timeout_s: 601 })).toThrow(
    /Field "command" is missing; it must be a string\. Field "timeout_s" must be at most 600/,
  );
});

test("the failure is TOOL_INPUT", () => {
  expect(() => parse("ls")).toThrow(expect.objectContaining({ code: "TOOL_INPUT" }));
  expect(() => parse([1])).toThrow(/must be an object/);
});

test("null is taken as not given, digits as a number, words as a flag", () => {
  expect(parse({ command: "ls", timeout_s: "12", all: "true" })).toEqual({ command: "ls", timeout_s: 12, all: true });
  expect(parse({ command: "ls", timeout_s: null })).toEqual({ command: "ls" });
});
