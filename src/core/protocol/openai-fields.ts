/**
 * Every field of OpenAI's two request schemas, with what Lares does about it. The gateway refuses by this table, and the
 * documentation is printed from it, so that no field is dropped without a word.
 */
import type { Json } from "../domain/index.ts";

/**
 * `honoured`: it does what it says. `refused`: a 400 that names the field, except with a value in `fine`, which asks for what Lares
 * does anyway. `ignored`: taken and without effect, because it doesn't change the answer.
 */
export type FieldVerdict =
  | { verdict: "honoured"; note?: string }
  | { verdict: "refused"; note: string; fine?: readonly Json[] }
  | { verdict: "ignored"; note: string };
export type FieldVerdicts = Readonly<Record<string, FieldVerdict>>;

const EFFORT = "`none` turns thinking off; `minimal` counts as `low`, `xhigh` and `max` as `high`";
const ONE_CALL = "with `false`, each answer of the model has at most one tool call";
const FORMAT = "checked: an answer in another format is an error (`answer_format`)";
const VERBOSITY = "`low` and `high` are put into words for the model";
const NO_LOGPROBS = "Log probabilities aren't available here.";

/** What both doors have. */
const SHARED = {
  model: { verdict: "honoured", note: "`lares`, `lares/<agent>`, `provider/model`, or a model's bare name" },
  user: { verdict: "honoured", note: "chooses the session" },
  stream: { verdict: "honoured" },
  temperature: { verdict: "honoured" },
  top_p: { verdict: "honoured" },
  tools: { verdict: "honoured", note: "functions only; they are offered instead of Lares' own" },
  tool_choice: { verdict: "honoured", note: "`auto`, `none`, `required`, or one function" },
  parallel_tool_calls: { verdict: "honoured", note: ONE_CALL },
  top_logprobs: { verdict: "refused", note: NO_LOGPROBS, fine: [0] },
  moderation: { verdict: "refused", note: "Lares runs no moderation model." },
  safety_identifier: { verdict: "ignored", note: "Lares knows its callers by their tokens" },
  service_tier: { verdict: "ignored", note: "the provider's default is used" },
  store: { verdict: "ignored", note: "Lares keeps conversations in its own records either way" },
  prompt_cache_key: { verdict: "ignored", note: "Lares sets its own" },
  prompt_cache_options: { verdict: "ignored", note: "Lares sets its own" },
  prompt_cache_retention: { verdict: "ignored", note: "Lares sets its own" },
} satisfies FieldVerdicts;

export const COMPLETION_FIELDS = {
  ...SHARED,
  messages: { verdict: "honoured" },
  max_tokens: { verdict: "honoured" },
  max_completion_tokens: { verdict: "honoured" },
  presence_penalty: { verdict: "honoured" },
  frequency_penalty: { verdict: "honoured" },
  seed: { verdict: "honoured" },
  stop: { verdict: "honoured", note: "also where the provider has no such setting" },
  response_format: { verdict: "honoured", note: FORMAT },
  reasoning_effort: { verdict: "honoured", note: EFFORT },
  verbosity: { verdict: "honoured", note: VERBOSITY },
  stream_options: { verdict: "honoured", note: "`include_usage`; the rest has no effect" },
  n: { verdict: "refused", note: "Lares gives one answer per request.", fine: [1] },
  logprobs: { verdict: "refused", note: NO_LOGPROBS, fine: [false] },
  logit_bias: { verdict: "refused", note: "Lares can't weigh single tokens.", fine: [{}] },
  modalities: { verdict: "refused", note: "Lares answers in text only.", fine: [["text"], []] },
  audio: { verdict: "refused", note: "Lares answers in text only." },
  functions: { verdict: "refused", note: "`functions` is OpenAI's old name for `tools`. Send `tools`.", fine: [[]] },
  function_call: { verdict: "refused", note: "`function_call` is OpenAI's old name for `tool_choice`. Send that." },
  web_search_options: {
    verdict: "refused",
    note: "Lares searches the web with the agent's own tool, not by this field.",
  },
  metadata: { verdict: "ignored", note: "nothing looks for conversations by it" },
  prediction: { verdict: "ignored", note: "it would only make the answer faster" },
} satisfies FieldVerdicts;

export const RESPONSE_FIELDS = {
  ...SHARED,
  input: { verdict: "honoured" },
  instructions: { verdict: "honoured" },
  previous_response_id: { verdict: "honoured", note: "goes on in that response's session" },
  max_output_tokens: { verdict: "honoured" },
  text: { verdict: "honoured", note: `\`format\` (${FORMAT}), and \`verbosity\`: ${VERBOSITY}` },
  reasoning: { verdict: "honoured", note: `\`effort\`: ${EFFORT}. The rest has no effect: thinking isn't returned` },
  metadata: { verdict: "honoured", note: "comes back with the response" },
  background: { verdict: "refused", note: "Responses can't be made in the background.", fine: [false] },
  conversation: {
    verdict: "refused",
    note: "Lares has no conversation objects. Use `previous_response_id` or `user`.",
  },
  prompt: { verdict: "refused", note: "Lares has no stored prompts. Send `instructions`." },
  include: { verdict: "ignored", note: "nothing more than the answer and its tool calls is returned" },
  stream_options: { verdict: "ignored", note: "streams have no padding to turn off" },
  truncation: { verdict: "ignored", note: "Lares compacts a conversation that gets too long" },
  context_management: { verdict: "ignored", note: "Lares compacts a conversation that gets too long" },
} satisfies FieldVerdicts;

/** The first field of a body that is refused, with its sentence. Null asks for nothing. */
export function refusedField(table: FieldVerdicts, body: object): { field: string; note: string } | undefined {
  for (const [field, value] of Object.entries(body)) {
    const known = Object.hasOwn(table, field) ? table[field] : undefined;
    if (known?.verdict !== "refused" || value === null || value === undefined) continue;
    const given = JSON.stringify(value);
    if (!known.fine?.some((one) => JSON.stringify(one) === given)) return { field, note: known.note };
  }
  return undefined;
}

export function printFields(table: FieldVerdicts): string {
  const order = ["honoured", "refused", "ignored"];
  const rows = Object.entries(table).sort(([, a], [, b]) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
  const lines = rows.map(([field, { note = "", ...one }]) => {
    const fine = one.verdict === "refused" && one.fine ? one.fine.map((value) => `\`${JSON.stringify(value)}\``) : [];
    return `| \`${field}\` | ${one.verdict} | ${note}${fine.length ? ` Accepted: ${fine.join(", ")}.` : ""} |`;
  });
  return `| field | | |\n|---|---|---|\n${lines.join("\n")}\n`;
}
