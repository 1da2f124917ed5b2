/**
 * A question with fields to fill in, asked by somebody else's program before a call goes on, and the answers people give to it:
 * typed in a chat as one line, or filled in field by field. Pure.
 */
import { AppError, assertNever } from "./errors.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";

export type FormField = {
  name: string;
  /** What people read in its place. */
  title?: string;
  about?: string;
  kind: "text" | "number" | "integer" | "yes-no" | "choice" | "choices";
  required: boolean;
  /** Of a choice: what may be answered, and how people read it. */
  options?: { value: string; title: string }[];
  least?: number;
  most?: number;
  /** Of a text: what it has to be. */
  format?: TextFormat;
  /** Used where nothing is answered. */
  usual?: string | number | boolean | string[];
};

export type TextFormat = "email" | "uri" | "date" | "date-time";

export type QuestionForm = {
  fields: FormField[];
  /** The program that asks, by the name its owner gave it. Absent in questions of older versions, like `message`. */
  from?: string;
  /** What it says, without the fields. */
  message?: string;
  /** A page that the person opens by themselves; the answer only says that they did. */
  url?: string;
};

/** What came of a question. `cancel`: nobody answered in time. */
export type QuestionAnswer = { action: "accept"; content: JsonObject } | { action: "decline" | "cancel" };

/** A choice typed in a chat is short; a text may be a few paragraphs. */
export const MOST_ANSWER = 4000;

/** Whether a plain yes answers all of it. */
export function needsNoWords({ fields }: QuestionForm): boolean {
  return fields.every(({ required, usual }) => !required || usual !== undefined);
}

/** Throws BAD_REQUEST with what is missing or doesn't fit. */
export function readFormAnswer(form: QuestionForm, given: string | JsonObject | undefined): JsonObject {
  const values = typeof given === "string" ? splitTyped(form, given) : (given ?? {});
  const stranger = Object.keys(values).find((name) => !form.fields.some((field) => field.name === name));
  if (stranger !== undefined) throw misfit(form, `There is no field "${stranger.slice(0, 60)}".`);
  const content: Record<string, Json> = {};
  for (const field of form.fields) {
    const value = Object.hasOwn(values, field.name) ? values[field.name] : field.usual;
    if (value === undefined || value === "") {
      if (field.required) throw badField(form, field, "is missing");
      continue;
    }
    content[field.name] = readField(form, field, value);
  }
  return content;
}

/** How to type an answer, without the code before it. */
export function howToType({ fields }: QuestionForm): string {
  if (fields.length === 1) return sample(fields[0]!);
  return fields.map((field) => `${field.name}: ${sample(field)}`).join("; ");
}

function sample({ kind, options = [] }: FormField): string {
  switch (kind) {
    case "text":
      return "TEXT";
    case "number":
    case "integer":
      return "NUMBER";
    case "yes-no":
      return "yes|no";
    case "choice":
    case "choices":
      if (options.length > MOST_SAMPLES || !arePlain(options)) return "CHOICE";
      return options.map(({ value }) => value).join(kind === "choice" ? "|" : ",");
    default:
      return assertNever(kind);
  }
}

const MOST_SAMPLES = 6;
const PLAIN = /^[\p{L}\p{N}_.+-]{1,32}$/u;

/** Sentences of ours repeat only values that can't pass for a sentence themselves. */
function arePlain(options: NonNullable<FormField["options"]>): boolean {
  return options.every(({ value }) => PLAIN.test(value));
}

/** One field takes the whole text; several are `name: value`, apart by semicolons or lines, or JSON. */
function splitTyped(form: QuestionForm, typed: string): JsonObject {
  const text = typed.trim();
  if (text === "") return {};
  if (text.startsWith("{")) {
    const read = parseObject(text);
    if (read) return read;
  }
  const [only] = form.fields;
  if (!only) throw misfit(form, "It only wants a yes or a no.");
  if (form.fields.length === 1) {
    return { [only.name]: withoutName(text, only.name) };
  }
  const values: Record<string, Json> = {};
  for (const piece of text.split(/[;\n]/)) {
    if (piece.trim() === "") continue;
    const at = piece.search(/[:=]/);
    if (at < 0) throw misfit(form, `"${piece.trim().slice(0, 60)}" doesn't say which field it is for.`);
    const name = piece.slice(0, at).trim();
    const field = form.fields.find((one) =>
      [one.name, one.title].some((it) => it?.toLowerCase() === name.toLowerCase()),
    );
    values[field?.name ?? name] = piece.slice(at + 1).trim();
  }
  return values;
}

function readField(form: QuestionForm, field: FormField, value: Json): Json {
  const bad = (why: string) => badField(form, field, why);
  switch (field.kind) {
    case "text": {
      if (typeof value !== "string") throw bad("must be text");
      if (value.length > Math.min(field.most ?? MOST_ANSWER, MOST_ANSWER)) throw bad("is too long");
      if (value.length < (field.least ?? 0)) throw bad(`needs at least ${field.least} characters`);
      if (field.format && !FORMATS[field.format].fits(value)) throw bad(`must be ${FORMATS[field.format].said}`);
      return value;
    }
    case "number":
    case "integer": {
      const number = typeof value === "string" ? Number(value) : value;
      if (typeof number !== "number" || !Number.isFinite(number)) throw bad("must be a number");
      if (field.kind === "integer" && !Number.isInteger(number)) throw bad("must be a whole number");
      if (number < (field.least ?? -Infinity)) throw bad(`must be at least ${field.least}`);
      if (number > (field.most ?? Infinity)) throw bad(`must be at most ${field.most}`);
      return number;
    }
    case "yes-no": {
      if (typeof value === "boolean") return value;
      const said = typeof value === "string" ? value.trim().toLowerCase() : "";
      if (["yes", "y", "true", "on"].includes(said)) return true;
      if (["no", "n", "false", "off"].includes(said)) return false;
      throw bad("must be yes or no");
    }
    case "choice":
      return choose(field, value, bad);
    case "choices": {
      const many = typeof value === "string" ? value.split(",") : value;
      if (!Array.isArray(many)) throw bad("must be a list");
      const chosen = [...new Set(many.map((one) => choose(field, one, bad)))];
      if (chosen.length < (field.least ?? 0)) throw bad(`needs at least ${field.least}`);
      if (chosen.length > (field.most ?? Infinity)) throw bad(`takes at most ${field.most}`);
      return chosen;
    }
    default:
      return assertNever(field.kind);
  }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** As people read it in a sentence, and whether a text is that. */
export const FORMATS: Readonly<Record<TextFormat, { said: string; fits(text: string): boolean }>> = {
  email: { said: "an email address", fits: isEmail },
  uri: { said: "an address such as https://example.com", fits: (text) => URL.canParse(text) },
  date: { said: "a date such as 2026-11-30", fits: (text) => DAY.test(text) && isDay(text) },
  "date-time": {
    said: "a date and time such as 2026-11-30T09:00:00Z",
    fits: (text) => MOMENT.test(text) && isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)),
  },
};

function isEmail(text: string): boolean {
  const [name = "", host = "", ...more] = text.split("@");
  return more.length === 0 && name !== "" && host.includes(".") && !/\s/.test(text) && !/^\.|\.$/.test(host);
}

/** 30 February isn't one, although the machine counts on into March. */
function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

function choose({ options = [] }: FormField, value: Json, bad: (why: string) => AppError): string {
  const said = typeof value === "string" ? value.trim().toLowerCase() : "";
  const found = options.find((one) => [one.value, one.title].some((it) => it.toLowerCase() === said));
  if (found) return found.value;
  throw bad(`must be one of ${arePlain(options) ? options.map((one) => one.value).join(", ") : "the choices"}`);
}

/** The details are for a page that shows what is wrong beside its field. */
function badField(form: QuestionForm, { name }: FormField, problem: string): AppError {
  return misfit(form, `"${name}" ${problem}.`, { field: name, problem });
}

function misfit(form: QuestionForm, message: string, details?: JsonObject): AppError {
  const how = form.fields.length === 0 ? "Answer with yes or no." : `Answer like this: ${howToType(form)}`;
  return new AppError("BAD_REQUEST", { message, hint: how, retry: "after-change", ...(details ? { details } : {}) });
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `city: Rome` → `Rome`; a text that only begins like the name stays whole. */
function withoutName(text: string, name: string): string {
  if (!text.toLowerCase().startsWith(name.toLowerCase())) return text;
  const rest = text.slice(name.length).trimStart();
  return rest.startsWith(":") || rest.startsWith("=") ? rest.slice(1).trim() : text;
}
