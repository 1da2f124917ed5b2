/**
 * Whether arguments fit a tool's schema, so that a model's slip is said to the model before a person is asked about it. The schema is
 * its server's, and so is the structured answer that is held against the schema for answers: they may be wrong, endless or made to be
 * slow. So this reads the keywords that matter and counts its steps by what they cost; what it does not know or has no steps left
 * for is left to the server, which checks its own arguments anyway.
 *
 * MCP-31: the time is bounded by a number of steps for any schema and value that a server gives.
 */
import { isObject, type Json, type JsonObject } from "../../../../core/domain/index.ts";
import { nearest } from "../../../../core/kit/index.ts";

/** Far more than arguments of people need, and a few milliseconds. */
const MOST_STEPS = 20_000;
/** Letters of a text that are counted or compared in one step. */
const LETTERS_A_STEP = 100;
/** Levels of a value. What is deeper nobody fills in, and following it would end the stack. */
const DEEPEST = 64;
/** References that people write are far shorter. */
const LONGEST_REF = 300;
const MOST_HOPS = 20;

/** The first thing that does not fit, as a sentence for the model; undefined when nothing was found. `pattern` is left to the server. */
export function misfit(schema: JsonObject, value: Json, name = "input"): string | undefined {
  return new Check(schema).run(schema, value, name);
}

class Check {
  #steps = 0;
  #depth = 0;
  readonly #root: JsonObject;
  readonly #found = new Map<string, JsonObject | undefined>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  run(schema: Json | undefined, value: Json, at: string): string | undefined {
    if (!this.#pay(1) || schema === undefined || schema === true || this.#depth > DEEPEST) return undefined;
    if (schema === false) return `${at} isn't allowed`;
    if (!isObject(schema)) return undefined;
    const target = this.#follow(schema);
    if (!target) return undefined;
    this.#depth++;
    const problem =
      (this.#pay(asList(target.type).length) ? wrongType(target, value, at) : undefined) ??
      this.#wrongChoice(target, value, at) ??
      this.#wrongSize(target, value, at) ??
      this.#combined(target, value, at) ??
      (isObject(value) ? this.#fields(target, value, at) : undefined) ??
      (Array.isArray(value) ? this.#items(target, value, at) : undefined);
    this.#depth--;
    return problem;
  }

  /** False: there are no steps left for that. */
  #pay(steps: number): boolean {
    this.#steps += steps;
    return this.#steps <= MOST_STEPS;
  }

  #wrongChoice(schema: JsonObject, value: Json, at: string): string | undefined {
    const choices = "const" in schema ? [schema.const as Json] : asList(schema.enum);
    if (choices.length === 0 || !this.#pay(choices.length)) return undefined;
    const isPlain = value === null || typeof value !== "object";
    if (isPlain ? choices.includes(value) : !this.#isOther(choices, value)) return undefined;
    // Shown by the first way that fails and read by nobody for the others.
    if (!this.#pay(10 * MOST_SHOWN)) return `${at} must be one of its choices`;
    return `${at} must be one of ${JSON.stringify(choices.slice(0, MOST_SHOWN)).slice(0, 300)}`;
  }

  /** An object or a list that is none of the choices. They are part of the schema, which is small; the value may not be. */
  #isOther(choices: readonly Json[], value: Json): boolean {
    const shapes = choices.filter((one) => one !== null && typeof one === "object").map((one) => JSON.stringify(one));
    const longest = Math.max(0, ...shapes.map((one) => one.length));
    if (!this.#pay(shapes.reduce((sum, one) => sum + one.length, 0) / LETTERS_A_STEP)) return false;
    const text = JSON.stringify(value);
    if (!this.#pay(text.length / LETTERS_A_STEP)) return false;
    return text.length > longest || !shapes.includes(text);
  }

  #wrongSize(schema: JsonObject, value: Json, at: string): string | undefined {
    const size = SIZES[Array.isArray(value) ? "array" : typeof value];
    if (!size) return undefined;
    const [least, most] = [schema[size.least], schema[size.most]];
    if (typeof least !== "number" && typeof most !== "number") return undefined;
    if (typeof value === "string" && !this.#pay(value.length / LETTERS_A_STEP)) return undefined;
    const of = size.of(value);
    if (typeof least === "number" && of < least) return `${at}${size.what} must be at least ${least}`;
    if (typeof most === "number" && of > most) return `${at}${size.what} must be at most ${most}`;
    return undefined;
  }

  /** A reference inside the schema; one that leads outside or in a circle is not followed. */
  #follow(schema: JsonObject): JsonObject | undefined {
    let found = schema;
    for (let hops = 0; typeof found.$ref === "string"; hops++) {
      const next = hops < MOST_HOPS ? this.#pointed(found.$ref) : undefined;
      if (!next) return undefined;
      found = next;
    }
    return found;
  }

  #pointed(ref: string): JsonObject | undefined {
    if (!this.#found.has(ref)) this.#found.set(ref, pointed(this.#root, ref));
    return this.#found.get(ref);
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
    if (!this.#pay(asList(schema.required).length + Object.keys(value).length)) return undefined;
    for (const name of asList(schema.required))
      if (typeof name === "string" && !Object.hasOwn(value, name)) return `${at}.${name} is missing`;
    const hasPatterns = isObject(schema.patternProperties);
    for (const [name, item] of Object.entries(value)) {
      const path = `${at}.${name.slice(0, 60)}`;
      if (Object.hasOwn(properties, name)) {
        const problem = this.run(properties[name], item, path);
        if (problem) return problem;
      } else if (schema.additionalProperties === false && !hasPatterns) {
        const near = this.#pay(10 * Object.keys(properties).length)
          ? nearest(name, Object.keys(properties))
          : undefined;
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

const MOST_SHOWN = 50;

interface Size {
  of(value: Json): number;
  least: string;
  most: string;
  what: string;
}

const SIZES: Readonly<Record<string, Size>> = {
  number: { of: Number, least: "minimum", most: "maximum", what: "" },
  string: { of: (value) => countLetters(String(value)), least: "minLength", most: "maxLength", what: "'s length" },
  array: { of: (value) => asList(value).length, least: "minItems", most: "maxItems", what: "'s length" },
};

/** Two halves of a pair are one letter. */
function countLetters(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++, count++) if (text.codePointAt(i)! > 0xffff) i++;
  return count;
}

/** `#/$defs/Thing`, inside the schema itself. */
export function pointed(root: JsonObject, ref: string): JsonObject | undefined {
  if ((ref !== "#" && !ref.startsWith("#/")) || ref.length > LONGEST_REF) return undefined;
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
