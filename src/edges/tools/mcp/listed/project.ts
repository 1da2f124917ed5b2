/**
 * A tool's schema as every provider takes it, for tools that are offered directly. A conversation may be answered by several providers,
 * one after the other, so this is what all of them accept: one object at the root, no references, plain keywords. What is lost is
 * said in words; arguments are checked against the original anyway. Pure.
 */
import { isObject, type Json, type JsonObject } from "../../../../core/domain/index.ts";
import { truthy } from "../../../../core/kit/index.ts";
import { pointed } from "../call/arguments.ts";

/** Bounds for what stands in every request; a schema beyond them is not for the base list. */
const MOST_PROJECTED = 6000;
const DEEPEST = 10;
const MOST_NODES = 400;
/** References that lead to references. A server could make a chain of thousands, and each of its fields would follow it. */
const MOST_HOPS = 20;

/** Keywords with plain values that Anthropic, OpenAI and Gemini all take. */
const PLAIN = new Set([
  ...["type", "description", "title", "enum", "required", "default", "minimum", "maximum"],
  ...["minLength", "maxLength", "minItems", "maxItems", "pattern"],
]);
/** Formats that Gemini refuses nothing about. */
const FORMATS: ReadonlySet<Json | undefined> = new Set(["date-time", "enum"]);

/** Undefined when it is too large for the base list. */
export function projectSchema(schema: JsonObject): JsonObject | undefined {
  const projected = new Projection(schema).root();
  return projected && JSON.stringify(projected).length <= MOST_PROJECTED ? projected : undefined;
}

class Projection {
  readonly #root: JsonObject;
  #nodes = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  root(): JsonObject | undefined {
    const { anyOf, oneOf, allOf, ...rest } = this.#follow(this.#root, []);
    const merged = this.#merge(rest, [listed(allOf), listed(anyOf), listed(oneOf)]);
    const projected = this.#node({ ...merged, type: "object" }, 0, []);
    return this.#nodes > MOST_NODES
      ? undefined
      : { ...projected, type: "object", properties: projected.properties ?? {} };
  }

  /** Shapes at the root become one object: all fields, and as required only what every shape requires. */
  #merge(base: JsonObject, [all = [], any = [], one = []]: JsonObject[][]): JsonObject {
    const shapes = [...any, ...one].map((shape) => this.#follow(shape, []));
    const every = all.map((shape) => this.#follow(shape, []));
    const properties = Object.assign({}, ...[...shapes, ...every, base].map(fields)) as JsonObject;
    const required = new Set([base, ...every].flatMap(listRequired));
    for (const name of shapes.length > 0 ? listRequired(shapes[0]!) : [])
      if (shapes.every((shape) => listRequired(shape).includes(name))) required.add(name);
    const ways = shapes.map((shape) => listRequired(shape).join(" and ")).filter(Boolean);
    const note = ways.length > 1 ? `Give ${[...new Set(ways)].join(", or ")}.` : "";
    const description = [base.description, note].filter((text) => typeof text === "string" && text !== "").join(" ");
    return { ...base, properties, required: [...required], ...truthy({ description }) };
  }

  #node(given: JsonObject, depth: number, seen: readonly string[]): JsonObject {
    // Deeper than anybody fills in, or in a circle: anything goes, and the check at the call says what was wrong.
    if (++this.#nodes > MOST_NODES || depth > DEEPEST) return {};
    const path = typeof given.$ref === "string" ? [...seen, given.$ref] : seen;
    const schema = this.#follow(given, seen);
    const kept = Object.fromEntries(Object.entries(schema).filter(([key, value]) => PLAIN.has(key) && value !== null));
    const below = (value: Json) => (isObject(value) ? this.#node(value, depth + 1, path) : {});
    const choices = [...listed(schema.anyOf), ...listed(schema.oneOf)];
    const properties = isObject(schema.properties) ? schema.properties : undefined;
    return {
      ...kept,
      ...oneType(schema),
      ...("const" in schema ? { enum: [schema.const as Json] } : {}),
      ...(FORMATS.has(schema.format) ? { format: schema.format as Json } : {}),
      ...(properties
        ? { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, below(one)])) }
        : {}),
      ...(isObject(schema.items) ? { items: below(schema.items) } : {}),
      // Gemini wants to know what is in a list.
      ...(schema.type === "array" && !isObject(schema.items) ? { items: { type: "string" } } : {}),
      ...(choices.length > 0 ? { anyOf: choices.map(below) } : {}),
      ...(schema.additionalProperties === false ? { additionalProperties: false } : {}),
    };
  }

  #follow(schema: JsonObject, seen: readonly string[]): JsonObject {
    if (typeof schema.$ref !== "string") return schema;
    const { $ref, ...beside } = schema;
    if (seen.length > MOST_HOPS || seen.includes($ref)) return beside;
    const found = pointed(this.#root, $ref);
    return found ? this.#follow({ ...found, ...beside }, [...seen, $ref]) : beside;
  }
}

/** Several types become one: `null` beside another is left out, of others the first that is plain. */
function oneType({ type }: JsonObject): JsonObject {
  if (!Array.isArray(type)) return {};
  return { type: type.find((one) => one !== "null") ?? "string" };
}

function fields({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {};
}

function listRequired({ required }: JsonObject): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

function listed(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((one): one is JsonObject => isObject(one as Json)) : [];
}
