/** The schema told to people (`lares config explain`, the documentation) and to editors (JSON Schema). */
import type { z } from "zod";
import type { Json, JsonObject } from "../../core/domain/index.ts";
import { type ConfigSchema, inside, readDef } from "./schema.ts";

export interface ConfigKey {
  /** `gateway.http.wait`; `<name>` stands for a name of one's own, `[]` for each entry of a list. */
  key: string;
  type: string;
  /** Absent when there is none. */
  default?: Json;
  /** True when the file must set it. */
  required: boolean;
  sentence: string;
  example?: Json;
}

/** Every key with its type, default and sentence, in the order the rooms declare them. */
export function explain(schema: ConfigSchema): ConfigKey[] {
  return Object.entries(schema.slices).flatMap(([name, slice]) => listKeys(slice, name));
}

/** JSON Schema of the file, for editors and for `config schema`. zod's generator is loaded only here. */
export async function configSchemaJson(schema: ConfigSchema): Promise<JsonObject> {
  const { z } = await import("zod");
  const properties = Object.fromEntries(
    Object.entries(schema.slices).map(([name, slice]) => {
      // `input`: what is written in the file, so keys with defaults are not required. A transform is shown as its input.
      const { $schema: _, ...rest } = z.toJSONSchema(slice, { io: "input", unrepresentable: "any" }) as JsonObject;
      return [name, closed(rest)];
    }),
  );
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "lares.yaml",
    type: "object",
    properties: properties as JsonObject,
    additionalProperties: false,
  };
}

/** Unknown keys are refused whether or not a slice said so; the JSON Schema says the same. */
function closed(value: Json): Json {
  if (Array.isArray(value)) return value.map(closed);
  if (value === null || typeof value !== "object") return value;
  const out: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value as JsonObject)) out[key] = key === "default" ? item : closed(item);
  if (out.type === "object" && out.properties !== undefined && out.additionalProperties === undefined) {
    out.additionalProperties = false;
  }
  return out;
}

function listKeys(schema: z.ZodType, key: string): ConfigKey[] {
  const inner = inside(schema);
  const def = readDef(inner);
  const own: ConfigKey = { key, type: typeWords(inner), required: isRequired(schema), sentence: findSentence(schema) };
  const fallback = findDefault(schema);
  if (fallback !== undefined) own.default = fallback;
  const example = findExample(schema);
  if (example !== undefined) own.example = example;

  if (def.type === "object" && def.shape) {
    const below = Object.entries(def.shape).flatMap(([name, child]) => listKeys(child, `${key}.${name}`));
    // A section without its own description is described by its keys.
    return own.sentence === "" ? below : [{ ...own, required: false }, ...below];
  }
  if (def.type === "record" && def.valueType && hasKeys(def.valueType)) {
    return [own, ...listKeys(def.valueType, `${key}.<name>`)];
  }
  if (def.type === "array" && def.element && hasKeys(def.element)) return [own, ...listKeys(def.element, `${key}[]`)];
  return [own];
}

function hasKeys(schema: z.ZodType): boolean {
  return readDef(inside(schema)).type === "object";
}

/** A schema's kind in plain words: "text", "one of ask, record", "list of text". */
function typeWords(schema: z.ZodType): string {
  const inner = inside(schema);
  const def = readDef(inner);
  switch (def.type) {
    case "string":
      return def.format === "url" ? "address" : "text";
    case "number":
      return isWhole(inner) ? "whole number" : "number";
    case "boolean":
      return "true or false";
    case "enum":
      return `one of ${Object.values(def.entries ?? {}).join(", ")}`;
    case "literal":
      return (def.values ?? []).join(" or ");
    case "array":
      return `list of ${def.element ? typeWords(def.element) : "anything"}`;
    case "record":
      return `map of names to ${def.valueType ? typeWords(def.valueType) : "anything"}`;
    case "object":
      return "section";
    case "union":
      return [...new Set((def.options ?? []).map(typeWords))].join(" or ");
    default:
      return def.type;
  }
}

function isWhole(schema: z.ZodType): boolean {
  const def = readDef(schema);
  return def.format === "safeint" || (def.checks ?? []).some((check) => check._zod.def.format === "safeint");
}

/** The wrappers from the outside in, the schema itself last: a description may have been given at any of them. */
function layers(schema: z.ZodType): z.ZodType[] {
  const all = [schema];
  for (let at = schema; at !== inside(at); ) {
    const def = readDef(at);
    const next = def.innerType ?? def.in ?? def.getter?.();
    if (!next) break;
    all.push(next);
    at = next;
  }
  return all;
}

function findSentence(schema: z.ZodType): string {
  return layers(schema).find((layer) => layer.description)?.description ?? "";
}

function findExample(schema: z.ZodType): Json | undefined {
  for (const layer of layers(schema)) {
    const meta = layer.meta() as { example?: Json; examples?: Json[] } | undefined;
    const example = meta?.example ?? meta?.examples?.[0];
    if (example !== undefined) return example;
  }
  return undefined;
}

function findDefault(schema: z.ZodType): Json | undefined {
  for (const layer of layers(schema)) {
    const def = readDef(layer);
    if (def.type === "default" || def.type === "prefault") {
      // An empty section as default is filled by the defaults of its keys, which are listed themselves.
      const value = def.defaultValue as Json;
      return readDef(inside(schema)).type === "object" ? undefined : value;
    }
  }
  return undefined;
}

function isRequired(schema: z.ZodType): boolean {
  return readDef(inside(schema)).type !== "object" && !schema.safeParse(undefined).success;
}
