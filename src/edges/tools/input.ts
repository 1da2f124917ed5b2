/**
 * The door of every tool: what the model sent becomes typed input, or one sentence that says which field is wrong.
 * Models send `null` for "not given" and numbers as strings; both are taken for what they mean.
 */
import { z } from "zod";
import { AppError, isObject, isUnreadable, type Json, type UnreadableInput } from "../../core/domain/index.ts";
import { explainIssue, nearest } from "../../core/kit/index.ts";

/** Checks `input` against a strict object schema. Throws TOOL_INPUT naming each wrong field. */
export function parseInput<Shape extends z.ZodRawShape>(
  tool: string,
  schema: z.ZodObject<Shape>,
  input: Json,
): z.output<z.ZodObject<Shape>> {
  const given = isObject(input)
    ? Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
    : input;
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const known = Object.entries(schema.shape).flatMap(([name, field]) => (isInternal(field) ? [] : [name]));
  if (isUnreadable(given)) throw unreadable(tool, known, given);
  const sentences = result.error.issues.map((issue) => sentence(issue, given, known));
  throw new AppError("TOOL_INPUT", {
    message: `${tool}: ${sentences.join(" ")}`,
    hint: `Fields of ${tool}: ${known.join(", ")}.`,
    retry: "after-change",
    origin: "own",
  });
}

/** What the model sent was no JSON object, or one nested too deep; the wire left its text and what is wrong with it. */
function unreadable(tool: string, known: readonly string[], given: UnreadableInput): AppError {
  return new AppError("TOOL_INPUT", {
    message: `${tool}: Nothing was done, because the arguments are ${given.problem}. They began: ${given.unreadable.slice(0, 100)}.`,
    hint: `Send one JSON object with fields of ${tool}: ${known.join(", ")}. Long text is better written in parts.`,
    retry: "after-change",
    // The words are the model's own.
    origin: "own",
  });
}

/** A whole number in a range; a string of digits is taken as the number. */
export function wholeNumber(from: number, to: number) {
  return z.preprocess(
    (value) => (typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value),
    z.number().int().min(from).max(to),
  );
}

/** true or false; the words are taken too. */
export const flag = z.preprocess((value) => {
  if (value === "true") return true;
  if (value === "false") return false;
  return value;
}, z.boolean());

/** A field that only Lares itself gives: models are never told of it. */
export function internal<Field extends z.ZodType>(field: Field): Field {
  return field.meta({ internal: true });
}

function isInternal(field: unknown): boolean {
  return field instanceof z.ZodType && field.meta()?.internal === true;
}

function sentence(issue: z.core.$ZodIssue, given: unknown, known: readonly string[]): string {
  if (issue.code === "unrecognized_keys") {
    return issue.keys
      .map((key) => {
        const near = nearest(key, known);
        return `Unknown field "${key}"; ${near ? `did you mean "${near}"?` : `known fields are ${known.join(", ")}.`}`;
      })
      .join(" ");
  }
  const field = issue.path.join(".");
  if (field === "") return "The input must be an object with named fields.";
  if (issue.code === "invalid_type" && isObject(given) && given[field] === undefined) {
    return `Field "${field}" is missing; it must be a ${issue.expected}.`;
  }
  return explainIssue(issue, given)
    .map(({ path, say }) => `${say(`Field "${path.join(".")}"`)}.`)
    .join(" ");
}
