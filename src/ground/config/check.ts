/**
 * Checks plain data against the joined schema. First a walk beside the schema finds unknown keys and fills absent sections,
 * then zod judges each slice; zod's errors are reworded in terms of the file.
 */
import type { z } from "zod";
import { isObject } from "../../core/domain/index.ts";
import { explainIssue, type Issue, nearest, truthy } from "../../core/kit/index.ts";
import { type Path, pathText } from "./problems.ts";
import { type ConfigSchema, inside, isClosed, readDef } from "./schema.ts";

export interface Complaint {
  path: Path;
  /** Whether the key itself or its value is wrong. */
  at: "key" | "value";
  message: string;
  /** For an unknown key: the known one it was surely meant for, which then need not be called missing as well. */
  meant?: string;
}

export interface CheckedConfig {
  value: Record<string, unknown>;
  complaints: Complaint[];
}

type Fields = Record<string, unknown>;

export interface ReferencePaths {
  /** Their text came from a variable and may be read as a number or as true/false. */
  whole: ReadonlySet<string>;
  /** They hold a reference instead of the text it stands for. */
  unresolved: ReadonlySet<string>;
}

export function check(schema: ConfigSchema, given: unknown, references: ReferencePaths): CheckedConfig {
  const complaints: Complaint[] = [];
  const value: Fields = {};
  const fields = isObject(given) ? given : {};
  for (const key of Object.keys(fields)) {
    if (!Object.hasOwn(schema.slices, key)) complaints.push(unknownKey([], key, Object.keys(schema.slices), schema));
  }
  for (const [name, slice] of Object.entries(schema.slices)) {
    const tidied = tidy(slice, section(slice, fields[name]), [name], { complaints, schema });
    value[name] = judge(slice, name, tidied, references, complaints);
  }
  return { value, complaints };
}

/** What is wrong with a value that one of the rooms' schemas refused, in the words a config file's reader gets. */
export function explainIssues(error: z.ZodError, given: unknown): string[] {
  return error.issues.flatMap((issue) => toComplaints(issue, [], given)).map(({ message }) => message);
}

/** An absent section is an empty one; so is one whose lines are all commented out, which YAML reads as null. */
function section(schema: z.ZodType, value: unknown): unknown {
  const isObject = readDef(inside(schema)).type === "object";
  if (value === undefined) return readDef(schema).type === "object" ? {} : undefined;
  if (value !== null || schema.safeParse(null).success) return value;
  const kind = readDef(inside(schema)).type;
  if (isObject && readDef(schema).type === "object") return {};
  return isObject || kind === "record" || kind === "array" ? undefined : value;
}

interface Walk {
  complaints: Complaint[];
  schema: ConfigSchema;
}

/** Returns a copy without unknown keys, which are complained about here and nowhere else. */
function tidy(schema: z.ZodType, value: unknown, path: Path, walk: Walk): unknown {
  const def = readDef(inside(schema));
  if (def.type === "array" && def.element && Array.isArray(value)) {
    return value.map((item, index) => tidy(def.element!, item, [...path, index], walk));
  }
  if (def.type === "union" && def.options) {
    const option = theOption(def.options, def.discriminator, value);
    return option ? tidy(option, value, path, walk) : value;
  }
  // No setting means anything by blanks alone; a schema's smallest length lets them pass.
  if (typeof value === "string" && value !== "" && value.trim() === "") {
    walk.complaints.push({ path, at: "value", message: `${pathText(path)} must not be blank` });
  }
  if (!isObject(value)) return value;
  if (def.type === "record" && def.valueType) {
    return mapFields(value, (item, key) => tidy(def.valueType!, section(def.valueType!, item), [...path, key], walk));
  }
  if (def.type !== "object" || !def.shape) return value;

  const out: Fields = {};
  for (const [key, item] of Object.entries(value)) {
    const known = Object.hasOwn(def.shape, key) ? def.shape[key] : undefined;
    if (known) out[key] = tidy(known, section(known, item), [...path, key], walk);
    else if (isClosed(def)) walk.complaints.push(unknownKey(path, key, Object.keys(def.shape), walk.schema));
    else out[key] = item;
  }
  for (const [key, known] of Object.entries(def.shape)) {
    if (!Object.hasOwn(value, key) && readDef(known).type === "object")
      out[key] = tidy(known, {}, [...path, key], walk);
  }
  return out;
}

/** The one option of a union that `value` can be meant for, when there is exactly one. */
function theOption(options: readonly z.ZodType[], discriminator: string | undefined, value: unknown) {
  const fitting = options.filter((option) => {
    const def = readDef(inside(option));
    if (!isObject(value)) return Array.isArray(value) && def.type === "array";
    if (def.type === "record") return true;
    if (def.type !== "object" || !def.shape) return false;
    const mark = discriminator === undefined ? undefined : def.shape[discriminator];
    return !mark || mark.safeParse(value[discriminator!]).success;
  });
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Without compiling a parser for each schema first: that takes longer than the one time it would be used. */
const ONCE = { jitless: true } as const;

function judge(
  slice: z.ZodType,
  name: string,
  value: unknown,
  { whole, unresolved }: ReferencePaths,
  complaints: Complaint[],
) {
  let input = value;
  let result = slice.safeParse(input, ONCE);
  if (!result.success && whole.size > 0) {
    // Variables are always text. Where a number or a yes/no is wanted, the text is read as one.
    for (const issue of result.error.issues) {
      if (issue.code !== "invalid_type" || !whole.has(pathText([name, ...(issue.path as Path)]))) continue;
      input = replaceAt(input, issue.path as Path, (text) => readAs(issue.expected, text));
    }
    result = slice.safeParse(input, ONCE);
  }
  if (result.success) return result.data;
  const issues = result.error.issues.filter(
    (issue) => !isAboutForm(issue) || !unresolved.has(pathText([name, ...(issue.path as Path)])),
  );
  // Only `run` returns the value together with the issues.
  if (issues.length === 0)
    return (slice._zod.run({ value: input, issues: [] }, { async: false, ...ONCE }) as { value: unknown }).value;
  for (const issue of issues) complaints.push(...toComplaints(issue, [name], input));
  return undefined;
}

/** True for what is said about how a text looks, not about whether it belongs here. */
function isAboutForm(issue: Issue): boolean {
  if (issue.code === "invalid_format") return true;
  return (issue.code === "too_small" || issue.code === "too_big") && issue.origin === "string";
}

function readAs(expected: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  const text = value.trim();
  if ((expected === "number" || expected === "int") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (expected === "boolean" && (text === "true" || text === "false")) return text === "true";
  return value;
}

function toComplaints(issue: Issue, base: Path, root: unknown): Complaint[] {
  return explainIssue(issue, root).map(({ path: here, at, say }) => {
    const path = [...base, ...here];
    return { path, at, message: say(pathText(path)).replace(/^: /, "") };
  });
}

function unknownKey(parent: Path, key: string, known: readonly string[], schema: ConfigSchema): Complaint {
  const path = [...parent, key];
  // The very word in another section says more than a similar word in this one.
  const near = elsewhere(schema, parent, key) ?? nearest(key, known);
  const all = known.length <= 12 ? `; known here: ${[...known].sort().join(", ")}` : "";
  const hint = near === undefined ? all : `; nearest: ${near}`;
  const meant = near === undefined ? undefined : pathText([...parent, near]);
  return { path, at: "key", message: `unknown key ${pathText(path)}${hint}`, ...truthy({ meant }) };
}

/** A known key of exactly this name under another section: `port` at the top is meant as `gateway.port`. */
function elsewhere(schema: ConfigSchema, parent: Path, key: string): string | undefined {
  if (parent.length > 1) return undefined;
  for (const [name, slice] of Object.entries(schema.slices)) {
    const shape = readDef(inside(slice)).shape;
    if (shape && Object.hasOwn(shape, key)) return `${name}.${key}`;
  }
  return undefined;
}

function mapFields(fields: Fields, change: (value: unknown, key: string) => unknown): Fields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(value, key)]));
}

function replaceAt(root: unknown, path: Path, change: (value: unknown) => unknown): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return change(root);
  if (Array.isArray(root)) return root.map((item, index) => (index === part ? replaceAt(item, rest, change) : item));
  if (!isObject(root)) return root;
  return { ...root, [part]: replaceAt(root[part], rest, change) };
}
