/**
 * How the answer is to be made, in the words of both doors. All fields are in a table in core/protocol; a setting is
 * passed on to the model or refused with a sentence, and none is dropped silently.
 */
import { z } from "zod";
import { type AnswerSettings, AppError, type JsonObject } from "../../../core/domain/index.ts";
import { checkSchema, truthy } from "../../../core/kit/index.ts";
import { COMPLETION_FIELDS, type FieldVerdicts, RESPONSE_FIELDS, refusedField } from "../../../core/protocol/index.ts";

const schemaFormat = z.looseObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "letters, digits, _ and -, up to 64")
    .nullish(),
  description: z.string().max(4096).nullish(),
  schema: z.record(z.string(), z.unknown(), "a JSON Schema"),
  strict: z.boolean().nullish(),
});
type SchemaFormat = z.output<typeof schemaFormat>;

const KINDS = "one of text, json_object and json_schema";
/** Chat completions put the schema one level down, responses do not. */
const responseFormat = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("text") }),
    z.looseObject({ type: z.literal("json_object") }),
    z.looseObject({ type: z.literal("json_schema"), json_schema: schemaFormat }),
  ],
  `type: ${KINDS}`,
);
const textFormat = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("text") }),
    z.looseObject({ type: z.literal("json_object") }),
    schemaFormat.extend({ type: z.literal("json_schema") }),
  ],
  `type: ${KINDS}`,
);

const tokens = z.number().int("a whole number").min(1, "at least 1").max(10_000_000).nullish();

/** What both doors take. */
const sharedSettings = {
  temperature: z.number().min(0, "between 0 and 2").max(2, "between 0 and 2").nullish(),
  top_p: z.number().min(0, "between 0 and 1").max(1, "between 0 and 1").nullish(),
  parallel_tool_calls: z.boolean().nullish(),
};

const EFFORTS = {
  none: "off",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
} as const satisfies Record<string, NonNullable<AnswerSettings["thinking"]>>;
const effort = z
  .enum(Object.keys(EFFORTS) as (keyof typeof EFFORTS)[], `one of ${Object.keys(EFFORTS).join(", ")}`)
  .nullish();
const verbosity = z.enum(["low", "medium", "high"], "one of low, medium and high").nullish();

export const completionSettings = {
  ...sharedSettings,
  max_tokens: tokens,
  max_completion_tokens: tokens,
  presence_penalty: z.number().min(-2, "between -2 and 2").max(2, "between -2 and 2").nullish(),
  frequency_penalty: z.number().min(-2, "between -2 and 2").max(2, "between -2 and 2").nullish(),
  seed: z.number().int("a whole number").nullish(),
  stop: z
    .union(
      [z.string().min(1).max(256), z.array(z.string().min(1).max(256)).max(16)],
      "a text, or up to 16 texts, none of them empty",
    )
    .nullish(),
  response_format: responseFormat.nullish(),
  reasoning_effort: effort,
  verbosity,
};

export const responseSettings = {
  ...sharedSettings,
  max_output_tokens: tokens,
  text: z.looseObject({ format: textFormat.nullish(), verbosity }).nullish(),
  reasoning: z.looseObject({ effort }).nullish(),
};

type Completion = z.output<z.ZodObject<typeof completionSettings>>;
type Response = z.output<z.ZodObject<typeof responseSettings>>;

export function readCompletionSettings(body: Completion): AnswerSettings {
  refuseFields(COMPLETION_FIELDS, body);
  const format = body.response_format;
  const stop = typeof body.stop === "string" ? [body.stop] : body.stop;
  return settings({
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    presencePenalty: body.presence_penalty || undefined,
    frequencyPenalty: body.frequency_penalty || undefined,
    seed: body.seed,
    stop: stop?.length ? stop : undefined,
    format: format?.type === "json_schema" ? toFormat(format.json_schema, "response_format") : plainFormat(format),
    ...sharedWithModel(body.parallel_tool_calls, body.reasoning_effort),
  });
}

export function readResponseSettings(body: Response): AnswerSettings {
  refuseFields(RESPONSE_FIELDS, body);
  const format = body.text?.format;
  return settings({
    maxOutputTokens: body.max_output_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    format: format?.type === "json_schema" ? toFormat(format, "text.format") : plainFormat(format),
    ...sharedWithModel(body.parallel_tool_calls, body.reasoning?.effort),
  });
}

/** Several calls at once are every model's default. */
function sharedWithModel(
  parallel: boolean | null | undefined,
  asked: keyof typeof EFFORTS | null | undefined,
): Pick<AskedSettings, "parallelToolCalls" | "thinking"> {
  return { parallelToolCalls: parallel === false ? false : undefined, thinking: asked ? EFFORTS[asked] : undefined };
}

/** Few providers have a setting for it, and every model understands the words. */
export function verbosityWords(asked: "low" | "medium" | "high" | null | undefined): string | undefined {
  if (asked === "low") return "Keep your answers short.";
  return asked === "high" ? "Answer in detail." : undefined;
}

function toFormat(
  { name, description, schema, strict }: SchemaFormat,
  field: string,
): NonNullable<AnswerSettings["format"]> {
  checkSchema(schema as JsonObject, { code: "BAD_REQUEST", field });
  return {
    schema: schema as JsonObject,
    ...truthy({ name, description }),
    ...(typeof strict === "boolean" ? { strict } : {}),
  };
}

type AskedSettings = { [K in keyof AnswerSettings]: AnswerSettings[K] | null | undefined };

/** Without what was not given. */
function settings(given: AskedSettings): AnswerSettings {
  const kept = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(kept) as AnswerSettings;
}

function refuseFields(table: FieldVerdicts, body: object): void {
  const found = refusedField(table, body);
  if (!found) return;
  const { field, note } = found;
  throw new AppError("BAD_REQUEST", { message: note, hint: `Leave \`${field}\` out.`, details: { field } });
}

/** Any JSON object, or text. */
const plainFormat = (format: { type: string } | null | undefined) => (format?.type === "json_object" ? {} : null);
