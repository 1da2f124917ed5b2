/**
 * What a server asks a person in the middle of a call, as a form of ours. Everything in it is text from outside: bounded, freed of
 * hidden characters, and shown with the name of the server that asks. Pure.
 *
 * MCP-13: a form never asks for secrets. One that does is refused before anybody sees it: what is typed into a chat stays there.
 */
import { z } from "zod";
import { FORMATS, type FormField, type QuestionForm, type TextFormat } from "../../../../core/domain/index.ts";
import { defined, visible, visibleLine, withoutHidden } from "../../../../core/kit/index.ts";

const MOST_FIELDS = 20;
const MOST_OPTIONS = 50;
const MOST_MESSAGE = 2000;
const MOST_LABEL = 200;

export type ReadQuestion = { shown: string; form: QuestionForm } | { refused: string };

const words = z.string();
const option = z.looseObject({ const: z.string(), title: words.optional() });
const property = z.looseObject({
  type: z.string().optional(),
  title: words.optional(),
  description: words.optional(),
  format: words.optional(),
  pattern: words.optional(),
  enum: z.array(z.string()).optional(),
  enumNames: z.array(z.string()).optional(),
  oneOf: z.array(option).optional(),
  items: z.looseObject({ enum: z.array(z.string()).optional(), anyOf: z.array(option).optional() }).optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  default: z.unknown().optional(),
});
const formParams = z.looseObject({
  mode: z.literal("form").optional(),
  message: words,
  requestedSchema: z.looseObject({
    properties: z.record(z.string(), property).default({}),
    required: z.array(z.string()).default([]),
  }),
});
const urlParams = z.looseObject({ mode: z.literal("url"), message: words, url: z.url({ protocol: /^https?$/ }) });

/** `params` of `elicitation/create`. */
export function readQuestion(server: string, params: unknown): ReadQuestion {
  const page = urlParams.safeParse(params);
  if (page.success) return askToOpen(server, page.data);
  const read = formParams.safeParse(params);
  if (!read.success) return { refused: `${server} asked a question of a kind that Lares doesn't know` };
  const { message, requestedSchema } = read.data;
  const entries = Object.entries(requestedSchema.properties);
  if (entries.length > MOST_FIELDS) return { refused: `${server} asked for more than ${MOST_FIELDS} things at once` };
  const fields: FormField[] = [];
  for (const [name, given] of entries) {
    if (!NAME.test(name)) return { refused: `${server} asked for a field that can't be named in a chat` };
    if (soundsSecret(name, given)) return { refused: `${server} asked for a secret ("${label(name)}") by form` };
    const field = readField(name, given, requestedSchema.required.includes(name));
    if (!field) return { refused: `${server} asked for "${label(name)}" in a form that Lares doesn't know` };
    fields.push(field);
  }
  // A form of one text field can ask for anything in its words.
  if (fields.some(({ kind }) => kind === "text") && SECRET_WORDS.test(message))
    return { refused: `${server} asked for a secret by form` };
  const shown = [`${server} asks:`, paragraph(message), ...fields.map(describe)].join("\n");
  return { shown, form: { fields, from: server, message: plain(message) } };
}

/** What people type before their answer, in a line of ours: a name must not be able to pass for a sentence. */
const NAME = /^[\p{L}\p{N}_.$-]{1,64}$/u;

/** The host stands on its own: it is what a person judges by. */
function askToOpen(server: string, { message, url }: z.infer<typeof urlParams>): ReadQuestion {
  const { host } = new URL(url);
  const lines = [
    `${server} asks you to open a page on ${visibleLine(host)}:`,
    paragraph(message),
    visibleLine(url.slice(0, MOST_MESSAGE)),
    "Say yes when you have done what you want to do there.",
  ];
  return { shown: lines.join("\n"), form: { fields: [], url, from: server, message: plain(message) } };
}

const SECRET_WORDS =
  /pass(?:word|phrase|code)|\bpin\b|\bcvv\b|\bcvc\b|secret|credential|api[\s_-]?key|private[\s_-]?key|seed phrase|access[\s_-]?token|auth[\s_-]?token|bearer|card number|one[\s-]time (?:code|password)|\botp\b|\b2fa\b/i;
const SECRET_NAME = /(?:^|[^a-z])(?:token|key|pin|otp|cvv|cvc|pwd)s?$/i;

function soundsSecret(name: string, { title, description, format, type }: z.infer<typeof property>): boolean {
  if (format === "password") return true;
  if (type !== undefined && type !== "string" && type !== "number" && type !== "integer") return false;
  const said = [name.replace(/([a-z])([A-Z])/g, "$1 $2"), title ?? "", description ?? ""].map(withoutHidden);
  return said.some((text) => SECRET_WORDS.test(text)) || said.slice(0, 2).some((text) => SECRET_NAME.test(text));
}

function readField(name: string, given: z.infer<typeof property>, required: boolean): FormField | undefined {
  const common = {
    name,
    required,
    ...defined({ title: given.title && label(given.title), about: given.description && label(given.description) }),
  };
  const options = readOptions(given.oneOf, given.enum, given.enumNames);
  const many = readOptions(given.items?.anyOf, given.items?.enum);
  const usual = readUsual(given.default);
  if (given.oneOf ?? given.enum) {
    const isChoice = given.type === undefined || given.type === "string";
    // Choices that can't all be shown aren't asked for as free text: most texts would be wrong.
    return options && isChoice ? { ...common, kind: "choice", options, ...defined({ usual }) } : undefined;
  }
  switch (given.type) {
    case "string":
      return {
        ...common,
        kind: "text",
        ...defined({ least: given.minLength, most: given.maxLength, usual, format: readFormat(given.format) }),
        // Not run here: an expression of somebody else's can be made to take forever. The server checks it itself.
        ...(given.pattern === undefined
          ? {}
          : { about: label(`${given.description ?? ""} Pattern: ${given.pattern}`) }),
      };
    case "number":
    case "integer":
      return { ...common, kind: given.type, ...defined({ least: given.minimum, most: given.maximum, usual }) };
    case "boolean":
      return { ...common, kind: "yes-no", ...defined({ usual }) };
    case "array":
      return (
        many && {
          ...common,
          kind: "choices",
          options: many,
          ...defined({ least: given.minItems, most: given.maxItems, usual }),
        }
      );
    default:
      return undefined;
  }
}

function readOptions(
  titled: readonly z.infer<typeof option>[] | undefined,
  plain: readonly string[] | undefined,
  names: readonly string[] = [],
): FormField["options"] {
  const all =
    titled?.map(({ const: value, title }) => ({ value, title: title ?? value })) ??
    plain?.map((value, i) => ({ value, title: names[i] ?? value }));
  if (!all || all.length === 0 || all.length > MOST_OPTIONS) return undefined;
  // A value goes back as it came, so it can't be cut.
  if (all.some(({ value }) => value.length > MOST_LABEL)) return undefined;
  return all.map(({ value, title }) => ({ value, title: label(title) }));
}

/** One that nobody knows isn't checked. */
function readFormat(given: string | undefined): FormField["format"] {
  return given !== undefined && Object.hasOwn(FORMATS, given) ? (given as TextFormat) : undefined;
}

function readUsual(value: unknown): FormField["usual"] {
  const read = z.union([z.string().max(MOST_MESSAGE), z.number(), z.boolean(), z.array(z.string()).max(MOST_OPTIONS)]);
  return read.safeParse(value).data;
}

function describe(field: FormField): string {
  const { name, title, about, kind, options, required, usual, format } = field;
  const choices = options
    ?.map((one) => (one.title === one.value ? one.value : `${one.value} (${one.title})`))
    .join(", ");
  const what =
    (format && FORMATS[format].said) ??
    choices ??
    { text: "text", number: "a number", integer: "a whole number", "yes-no": "yes or no" }[kind as "text"];
  const more = [required ? undefined : "optional", usual === undefined ? undefined : `default ${showUsual(usual)}`];
  const facts = [what, showRange(field), ...more].filter(Boolean).join("; ");
  const called = title && title !== name ? ` (${title})` : "";
  return visibleLine(`- ${label(name)}${called}: ${about ? `${about}. ` : ""}${facts}`);
}

function showRange({ kind, least, most }: FormField): string | undefined {
  const of = { text: " characters", choices: " of them" }[kind as "text"] ?? "";
  if (least !== undefined && most !== undefined) return `${least} to ${most}${of}`;
  if (most !== undefined) return `at most ${most}${of}`;
  return least === undefined || (least === 0 && of !== "") ? undefined : `at least ${least}${of}`;
}

function showUsual(usual: NonNullable<FormField["usual"]>): string {
  if (typeof usual === "boolean") return usual ? "yes" : "no";
  return Array.isArray(usual) ? usual.join(", ") : String(usual);
}

/** A message may have lines; each is marked, so that none passes for a line of ours. */
function paragraph(text: string): string {
  return plain(text)
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

function plain(text: string): string {
  const shown = withoutHidden(text).trim();
  return visible(shown.length > MOST_MESSAGE ? `${shown.slice(0, MOST_MESSAGE)}…` : shown);
}

function label(text: string): string {
  const shown = visibleLine(withoutHidden(text.slice(0, 4 * MOST_LABEL)).trim());
  return shown.length > MOST_LABEL ? `${shown.slice(0, MOST_LABEL)}…` : shown;
}
