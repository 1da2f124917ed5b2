/** Every kind of issue that zod knows is said in our words, and no message of zod's own gets through. */
import { expect, test } from "vitest";
import { z } from "zod";
import { firstIssue } from "./issue-words.ts";

/** What zod would say. */
const RAW = /Too (small|big)|Invalid|Unrecognized|expected|received|>=|<=|undefined|NaN/;

const CASES: [code: string, schema: z.ZodType, value: unknown, says: string][] = [
  ["invalid_type", z.string(), 5, "The value must be text, not a number."],
  ["invalid_type", z.object({ a: z.string() }), {}, "a is needed: text."],
  ["invalid_type", z.object({ a: z.unknown() }), {}, "a is needed."],
  ["invalid_type", z.int(), 1.5, "The value must be a whole number, not a number with a fraction."],
  ["invalid_type", z.array(z.boolean()), [1], "0 must be true or false, not a number."],
  ["invalid_type", z.date(), "x", "The value must be a date, not text."],
  ["invalid_type", z.never(), 1, "The value must be left out, not a number."],
  ["invalid_value", z.enum(["ask", "record"]), "asc", "The value must be one of ask, record; nearest: ask."],
  ["invalid_value", z.literal(false), true, "The value must be false."],
  ["too_small", z.string().min(1), "", "The value must not be empty."],
  ["too_small", z.string().min(2), "🙂"[0], "The value must have at least 2 characters."],
  ["too_small", z.number().positive(), 0, "The value must be more than 0."],
  ["too_small", z.array(z.string()).min(1), [], "The value must have at least 1 entry."],
  ["too_small", z.string().min(1, "Say something."), "", "The value: Say something."],
  ["too_big", z.string().max(3), "abcd", "The value must have at most 3 characters."],
  ["too_big", z.number().lt(3), 3, "The value must be less than 3."],
  ["too_big", z.set(z.string()).max(1), new Set(["a", "b"]), "The value must have at most 1 entry."],
  ["invalid_format", z.url(), "x", "The value must be an address such as https://example.com."],
  ["invalid_format", z.email(), "x", "The value must be a mail address such as ana@example.com."],
  ["invalid_format", z.iso.datetime(), "x", "The value must be a time such as 2026-01-31T09:00:00Z."],
  ["invalid_format", z.uuid(), "x", "The value must be text in the form of uuid."],
  ["invalid_format", z.string().regex(/^a/), "x", "The value must be text of the form /^a/."],
  ["invalid_format", z.string().regex(/^a/, "a word with a"), "x", "The value must be a word with a."],
  ["invalid_format", z.string().startsWith("a"), "x", "The value must be text in the form of starts_with."],
  ["not_multiple_of", z.number().multipleOf(5), 3, "The value must be a multiple of 5."],
  ["unrecognized_keys", z.strictObject({}), { b: 1 }, "unknown key b."],
  ["invalid_union", z.union([z.string(), z.number()]), [], "The value must be text or a number, not a list."],
  ["invalid_union", z.union([z.string(), z.object({ a: z.number() })]), { a: "x" }, "a must be a number, not text."],
  ["invalid_union", z.discriminatedUnion("k", [z.object({ k: z.literal("a") })]), { k: "b" }, ""],
  ["invalid_key", z.record(z.string().regex(/^a/, "made of a"), z.string()), { b: "x" }, ""],
  ["invalid_element", z.map(z.object({}), z.number()), new Map([[{}, "x"]]), ""],
  ["custom", z.string().refine(() => false, "that isn't a zone"), "x", "The value: that isn't a zone."],
  ["custom", z.string().refine(() => false), "x", "The value isn't valid."],
];

test.each(CASES)("%s: %#", (code, schema, value, says) => {
  const { error } = schema.safeParse(value);
  expect(error?.issues[0]?.code).toBe(code);
  const said = firstIssue(error!.issues, value);
  expect(said).not.toMatch(RAW);
  expect(said).not.toMatch(/\.\.$/);
  if (says) expect(said).toBe(says);
});

test("every kind of issue is there", () => {
  const kinds: Record<z.core.$ZodIssue["code"], true> = {
    invalid_type: true,
    invalid_value: true,
    too_small: true,
    too_big: true,
    invalid_format: true,
    not_multiple_of: true,
    unrecognized_keys: true,
    invalid_union: true,
    invalid_key: true,
    invalid_element: true,
    custom: true,
  };
  expect([...new Set(CASES.map(([code]) => code))].sort()).toEqual(Object.keys(kinds).sort());
});

test("the value itself is never repeated (ISSUES-1)", () => {
  const secret = "sk-live-0123456789";
  for (const schema of [
    z.number(),
    z.enum(["a", "b"]),
    z.string().max(3),
    z.url(),
    z.string().regex(/^a/),
    z.array(z.string()),
  ]) {
    expect(firstIssue(schema.safeParse(secret).error!.issues, secret)).not.toContain(secret);
  }
});
