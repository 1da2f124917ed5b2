/**
 * What a schema refused, in words for people: "gateway.port must be a whole number, not text". The one place that reads zod's
 * issues; its own messages ("Too small: expected string …") are never shown.
 *
 * ISSUES-1: the kind of a value is named, never the value.
 */
import type { z } from "zod";
import { assertNever } from "../domain/index.ts";
import { nearest } from "./nearest.ts";

export type Issue = z.core.$ZodIssue;
type IssuePath = readonly (string | number)[];

/** One thing that is wrong. */
export interface Explained {
  /** From the value that was checked. */
  path: IssuePath;
  /** The name is missing, or may not be there; else its value is wrong. */
  at: "key" | "value";
  /** The sentence about it, without a full stop, once its name is known. */
  say: (name: string) => string;
  /** A key that nobody knows. */
  unknown?: true;
}

export function explainIssue(issue: Issue, root: unknown): Explained[] {
  const path = issue.path as IssuePath;
  const value = valueAt(root, path);
  const wrong = (words: string): Explained[] => [{ path, at: "value", say: (name) => `${name} ${words}` }];
  const needed = (what: string): Explained[] => [{ path, at: "key", say: (name) => `${name} is needed: ${what}` }];
  const own = ownWords(issue);
  switch (issue.code) {
    case "invalid_type":
      // Anything would do.
      if (issue.expected === "nonoptional") return [{ path, at: "key", say: (name) => `${name} is needed` }];
      if (value === undefined) return needed(kindWords(issue.expected));
      if (own !== undefined) return own(path);
      return wrong(`must be ${kindWords(issue.expected)}, not ${describeKind(value)}`);
    case "invalid_value": {
      const choices = listChoices(issue.values);
      if (value === undefined) return needed(choices);
      const near = typeof value === "string" ? nearest(value, issue.values.map(String)) : undefined;
      return wrong(`must be ${choices}${near === undefined ? "" : `; nearest: ${near}`}`);
    }
    case "too_small":
      if (own !== undefined) return own(path);
      return wrong(`must ${bound(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum)}`);
    case "too_big":
      if (own !== undefined) return own(path);
      return wrong(`must ${bound(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum)}`);
    case "invalid_format":
      return wrong(`must be ${formWords(issue)}`);
    case "not_multiple_of":
      return wrong(`must be a multiple of ${issue.divisor}`);
    case "unrecognized_keys":
      return issue.keys.map((key) => ({
        path: [...path, key],
        at: "key",
        unknown: true,
        say: (name) => `unknown key ${name}`,
      }));
    case "invalid_union":
      if ("options" in issue && Array.isArray(issue.options)) return wrong(`must be ${listChoices(issue.options)}`);
      return explainUnion(issue, root, value) ?? wrong("has a form that is not understood here");
    case "invalid_key": {
      const why = issue.issues.find((one) => one.code === "invalid_format");
      const form = why ? `; it must be ${formWords(why as Format)}` : "";
      return [{ path, at: "key", say: (name) => `${name}: this name is not allowed here${form}` }];
    }
    case "invalid_element":
      return issue.issues.flatMap((one) => explainIssue({ ...one, path: [...path, ...one.path] } as Issue, root));
    case "custom":
      return own?.(path) ?? wrong("isn't valid");
    default:
      return assertNever(issue);
  }
}

/** The first thing that is wrong, as a whole sentence. `whole`: what a value without a name is called. */
export function firstIssue(issues: readonly Issue[], root: unknown, whole = "The value"): string {
  const first = issues[0] && explainIssue(issues[0], root)[0];
  if (!first) return `${whole} isn't valid.`;
  return `${first.say(first.path.length ? first.path.join(".") : whole)}.`;
}

type Format = Issue & { code: "invalid_format" };

/** Words that the schema itself gives. */
function ownWords({ message }: Issue): ((path: IssuePath) => Explained[]) | undefined {
  if (isRaw(message)) return undefined;
  return (path) => [{ path, at: "value", say: (name) => `${name}: ${message.replace(/\.$/, "")}` }];
}

/** zod's messages begin with one of these. */
function isRaw(message: string): boolean {
  return message === "" || /^(Invalid|Too (small|big)|Unrecognized|Expected|Required)\b/.test(message);
}

/** The branch that came furthest is what the writer meant; when none got past the door, the doors are named. */
function explainUnion(issue: Issue & { code: "invalid_union" }, root: unknown, value: unknown) {
  const deep = issue.errors.filter((branch) => branch.every((i) => i.path.length > 0 || i.code !== "invalid_type"));
  const best = deep.sort((a, b) => a.length - b.length)[0];
  if (best?.length) {
    return best.flatMap((i) => explainIssue({ ...i, path: [...issue.path, ...i.path] } as Issue, root));
  }
  const doors = issue.errors.flatMap((branch) =>
    branch.flatMap((i) => (i.code === "invalid_type" ? [kindWords(i.expected)] : [])),
  );
  if (doors.length === 0) return undefined;
  const words = `must be ${[...new Set(doors)].join(" or ")}, not ${describeKind(value)}`;
  const path = issue.path as IssuePath;
  return [{ path, at: "value" as const, say: (name: string) => `${name} ${words}` }];
}

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  bigint: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  set: "a list",
  object: "a section with keys",
  record: "a section with keys",
  map: "a section with keys",
  date: "a date",
  null: "empty",
  undefined: "left out",
  never: "left out",
  nan: "no number",
};

function kindWords(expected: string): string {
  return KINDS[expected] ?? "of another kind";
}

function describeKind(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a section with keys";
  if (typeof value === "number") return Number.isInteger(value) ? "a number" : "a number with a fraction";
  return typeof value === "boolean" ? "true or false" : "text";
}

function listChoices(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(", ")}`;
}

function bound(origin: string, how: string, limit: number | bigint): string {
  const counted = (one: string, many: string) => `have ${how} ${limit} ${Number(limit) === 1 ? one : many}`;
  if (origin === "string")
    return Number(limit) === 1 && how === "at least" ? "not be empty" : counted("character", "characters");
  if (origin === "array" || origin === "set") return counted("entry", "entries");
  if (origin === "file") return counted("byte", "bytes");
  return `be ${how} ${limit}`;
}

/** The schema's own words where it has some, with an example mostly; else the pattern. */
function formWords({ format, message, pattern }: Format): string {
  if (format !== "regex") return FORMATS[format] ?? (isRaw(message) ? `text in the form of ${format}` : message);
  return isRaw(message) ? `text of the form ${pattern}` : message;
}

const FORMATS: Readonly<Record<string, string>> = {
  url: "an address such as https://example.com",
  email: "a mail address such as ana@example.com",
  datetime: "a time such as 2026-01-31T09:00:00Z",
  date: "a date such as 2026-01-31",
  time: "a time such as 09:00:00",
  ipv4: "an IP address such as 192.0.2.1",
  ipv6: "an IP address such as 2001:db8::1",
  base64: "text in Base64",
  base64url: "text in Base64",
  json_string: "JSON",
};

function valueAt(root: unknown, path: IssuePath): unknown {
  return path.reduce<unknown>(
    (at, part) => (at === null || typeof at !== "object" ? undefined : (at as Record<string | number, unknown>)[part]),
    root,
  );
}
