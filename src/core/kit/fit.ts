/** Answers that must be JSON, and fit a JSON Schema. Pure. */
import { z } from "zod";
import { AppError, type ErrorCode, isObject, type Json } from "../domain/index.ts";
import { firstIssue } from "./issue-words.ts";

/** Checks a schema when it is given, not when the answer is there. */
export function checkSchema(schema: Json, about: { code: ErrorCode; field?: string } = { code: "TOOL_INPUT" }): void {
  try {
    toShape(schema);
  } catch (cause) {
    throw new AppError(about.code, {
      message: `This isn't a JSON Schema that can be checked: ${cause instanceof Error ? cause.message : String(cause)}.`,
      hint: 'For example {"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}.',
      ...(about.field === undefined ? {} : { details: { field: about.field } }),
    });
  }
}

export type Fitting = { ok: true; value: Json; text: string } | { ok: false; why: string };

/** The JSON of an answer, when it fits; else what is wrong with it in one sentence. Without a schema any object does. */
export function fitTo(schema: Json | undefined, text: string): Fitting {
  const found = jsonIn(text);
  if (found === undefined) return { ok: false, why: "It isn't JSON." };
  if (schema === undefined) return isObject(found.value) ? { ok: true, ...found } : { ok: false, why: NO_OBJECT };
  const parsed = toShape(schema).safeParse(found.value);
  if (parsed.success) return { ok: true, ...found };
  return { ok: false, why: firstIssue(parsed.error.issues, found.value, "It") };
}

const NO_OBJECT = "It isn't a JSON object.";

function toShape(schema: Json): z.ZodType {
  if (!isObject(schema)) throw new Error("it is not an object");
  return z.fromJSONSchema(withoutExpressions(schema) as Parameters<typeof z.fromJSONSchema>[0]);
}

/**
 * Without `pattern` and `patternProperties`: an expression that somebody else wrote may never end on somebody else's text (I13).
 * Under `properties` these are names.
 */
function withoutExpressions(schema: Json, isNames = false): Json {
  if (Array.isArray(schema)) return schema.map((one) => withoutExpressions(one));
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) => isNames || !(key === "patternProperties" || (key === "pattern" && typeof value === "string")),
  );
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      AS_IS.has(key) && !isNames ? value : withoutExpressions(value!, hasNames(key, isNames)),
    ]),
  );
}

/** Their values are data. */
const AS_IS: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

function hasNames(key: string, isNames: boolean): boolean {
  return !isNames && (key === "properties" || key === "$defs" || key === "definitions");
}

/** The whole answer, or the one fenced block in it: models like to wrap. */
function jsonIn(text: string): { value: Json; text: string } | undefined {
  const lines = text.split("\n");
  const open = lines.findIndex((line) => /```(?:json)?$/.test(line.trimEnd()));
  const close = lines.findIndex((line, at) => at > open && line.trimStart().startsWith("```"));
  const fenced = open >= 0 && close > open ? lines.slice(open + 1, close).join("\n") : undefined;
  for (const one of [text, fenced]) {
    try {
      if (one !== undefined) return { value: JSON.parse(one) as Json, text: one };
    } catch {
      // Not this one.
    }
  }
  return undefined;
}
