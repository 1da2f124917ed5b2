/** Answers that must fit a JSON Schema. Pure. */
import { z } from "zod";
import { AppError, isObject, type Json } from "../../core/domain/index.ts";
import { firstIssue } from "../../core/kit/index.ts";

/** Checks a schema when it is given, not when the answer is there. Throws TOOL_INPUT. */
export function checkSchema(schema: Json): void {
  try {
    toShape(schema);
  } catch (cause) {
    throw new AppError("TOOL_INPUT", {
      message: `This isn't a JSON Schema that can be checked: ${cause instanceof Error ? cause.message : String(cause)}.`,
      hint: 'For example {"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}.',
    });
  }
}

/** The JSON of an answer, when it fits; else what is wrong with it in one sentence. */
export function fitTo(schema: Json, text: string): { ok: true; value: Json } | { ok: false; why: string } {
  const found = jsonIn(text);
  if (found === undefined) return { ok: false, why: "It isn't JSON." };
  const parsed = toShape(schema).safeParse(found);
  if (parsed.success) return { ok: true, value: found };
  return { ok: false, why: firstIssue(parsed.error.issues, found, "It") };
}

function toShape(schema: Json): z.ZodType {
  if (!isObject(schema)) throw new Error("it is not an object");
  return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
}

/** The whole answer, or the one fenced block in it: models like to wrap. */
function jsonIn(text: string): Json | undefined {
  const lines = text.split("\n");
  const open = lines.findIndex((line) => /```(?:json)?$/.test(line.trimEnd()));
  const close = lines.findIndex((line, at) => at > open && line.trimStart().startsWith("```"));
  const fenced = open >= 0 && close > open ? lines.slice(open + 1, close).join("\n") : undefined;
  for (const one of [text, fenced]) {
    try {
      if (one !== undefined) return JSON.parse(one) as Json;
    } catch {
      // Not this one.
    }
  }
  return undefined;
}
