/**
 * Whether arguments fit a tool's schema, so that a model's slip is said to the model before a person is asked about it. The schema is
 * its server's: it may be wrong, endless or made to be slow. So this reads the keywords that matter and counts its steps; whatever it
 * does not know or has no steps left for is left to the server, which checks its own arguments anyway.
 */
import { isObject, type Json, type JsonObject } from "../../../../core/domain/index.ts";
import { nearest } from "../../../../core/kit/index.ts";

/** Far more than arguments of people need, and a few milliseconds. */
const MOST_STEPS = 20_000;

/** The first thing that does not fit, as a sentence for the model; undefined when nothing was found. `pattern` is left to the server. */
export function misfit(schema: JsonObject, value: Json, name = "input"): string | undefined {
  return new Check(schema).run(schema, value, name);
}

class Check {
  #steps = 0;
  readonly #root: JsonObject;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  run(schema: Json | undefined, value: Json, at: string): string | undefined {
    if (++this.#steps > MOST_STEPS || schema === undefined || schema === true) return undefined;
    if (schema === false) return `${at} isn't allowed`;
    if (!isObject(schema)) return undefined;
    const target = this.#follow(schema);
    if (!target) return undefined;
    return (
      wrongType(target, value, at) ??
      wrongValue(target, value, at) ??
      this.#combined(target, value, at) ??
      (isObject(value) ? this.#fields(target, value, at) : undefined) ??
      (Array.isArray(value) ? this.#items(target, value, at) : undefined)
    );
  }

  /** A reference inside the schema; one that leads outside or in a circle is not followed. */
  #follow(schema: JsonObject): JsonObject | undefined {
    let found = schema;
    for (let hops = 0; typeof found.$ref === "string"; hops++) {
      const next = hops < 20 ? pointed(this.#root, found.$ref) : undefined;
      if (!next) return undefined;
      found = next;
    }
    return found;
  }

  #combined(schema: JsonObject, value: Json, at: string): string | undefined {
    for (const part of asList(schema.allOf)) {
      const problem = this.run(part, value, at);
      if (problem) return problem;
    }
    for (const choices of [asList(schema.anyOf), asList(schema.oneOf)]) {
      if (choices.length === 0) continue;
      const problems = [];
      for (const choice of choices) {
        const problem = this.run(choice, value, at);
        if (!problem) break;
        problems.push(problem);
      }
      if (problems.length === choices.length)
        return choices.length === 1
          ? problems[0]
          : `${at} fits none of the ${choices.length} shapes it may have (${problems[0]})`;
    }
    return undefined;
  }

  #fields(schema: JsonObject, value: JsonObject, at: string): string | undefined {
    const properties = isObject(schema.properties) ? schema.properties : {};
    for (const name of asList(schema.required))
      if (typeof name === "string" && !Object.hasOwn(value, name)) return `${at}.${name} is missing`;
    const hasPatterns = isObject(schema.patternProperties);
    for (const [name, item] of Object.entries(value)) {
      const path = `${at}.${name.slice(0, 60)}`;
      if (Object.hasOwn(properties, name)) {
        const problem = this.run(properties[name], item, path);
        if (problem) return problem;
      } else if (schema.additionalProperties === false && !hasPatterns) {
        const near = nearest(name, Object.keys(properties));
        return near ? `there is no ${path}; did you mean "${near}"?` : `there is no ${path}`;
      } else if (isObject(schema.additionalProperties) && !hasPatterns) {
        const problem = this.run(schema.additionalProperties, item, path);
        if (problem) return problem;
      }
    }
    return undefined;
  }

  #items(schema: JsonObject, value: readonly Json[], at: string): string | undefined {
    const first = asList(schema.prefixItems);
    for (const [n, item] of value.entries()) {
      const problem = this.run(n < first.length ? first[n] : schema.items, item, `${at}[${n}]`);
      if (problem) return problem;
      if (this.#steps > MOST_STEPS) return undefined;
    }
    return undefined;
  }
}

function wrongType({ type }: JsonObject, value: Json, at: string): string | undefined {
  const types = (Array.isArray(type) ? type : [type ?? null]).filter(isText);
  if (types.length === 0 || types.some((one) => isOfType(one, value))) return undefined;
  return `${at} must be ${types.join(" or ")}, not ${nameType(value)}`;
}

const TYPES: Readonly<Record<string, (value: Json) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  null: (value) => value === null,
  integer: Number.isInteger,
  number: (value) => typeof value === "number",
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
};

/** A type nobody knows lets everything pass. */
function isOfType(type: string, value: Json): boolean {
  return Object.hasOwn(TYPES, type) ? TYPES[type]!(value) : true;
}

function nameType(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value;
}

function wrongValue(schema: JsonObject, value: Json, at: string): string | undefined {
  const choices = "const" in schema ? [schema.const as Json] : asList(schema.enum);
  if (choices.length > 0 && !choices.some((one) => JSON.stringify(one) === JSON.stringify(value)))
    return `${at} must be one of ${JSON.stringify(choices).slice(0, 300)}`;
  const size = measure(value);
  if (size === undefined) return undefined;
  const [least, most] = [schema[size.least], schema[size.most]];
  if (typeof least === "number" && size.of < least) return `${at}${size.what} must be at least ${least}`;
  if (typeof most === "number" && size.of > most) return `${at}${size.what} must be at most ${most}`;
  return undefined;
}

function measure(value: Json): { of: number; least: string; most: string; what: string } | undefined {
  if (typeof value === "number") return { of: value, least: "minimum", most: "maximum", what: "" };
  if (typeof value === "string")
    return { of: [...value].length, least: "minLength", most: "maxLength", what: "'s length" };
  return Array.isArray(value)
    ? { of: value.length, least: "minItems", most: "maxItems", what: "'s length" }
    : undefined;
}

/** `#/$defs/Thing`, inside the schema itself. */
export function pointed(root: JsonObject, ref: string): JsonObject | undefined {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let at: Json | undefined = root;
  for (const piece of ref.split("/").slice(1)) {
    const key = piece.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return isObject(at) ? at : undefined;
}

function asList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function isText(value: Json): value is string {
  return typeof value === "string";
}
