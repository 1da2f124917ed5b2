/**
 * The practice model in a provider's words, for a runtime while no key is set: it answers in the format it was asked in, says that it is
 * a list of rules, calls no tools and costs nothing.
 */
import type { RelayCall, RelayedAnswer } from "../../../core/contracts/index.ts";
import { asList, asObject, assertNever, asText, NO_USAGE } from "../../../core/domain/index.ts";
import { callPractice, PRACTICE_MODEL } from "../practice/index.ts";

export async function answerPractice(call: RelayCall, signal: AbortSignal): Promise<RelayedAnswer> {
  const text = call.kind === "count" ? "" : await ask(lastWords(call), signal);
  const body = call.kind === "count" ? JSON.stringify(COUNTED) : write(call, text);
  const isEvents = call.stream && call.kind === "answer";
  return {
    ok: true,
    model: PRACTICE_MODEL,
    status: 200,
    headers: { "content-type": isEvents ? "text/event-stream" : "application/json" },
    async *pieces() {
      yield Buffer.from(body);
    },
    used: () => ({ usage: NO_USAGE, isWhole: true }),
  };
}

/** Anthropic's word for it, and Google's. */
const COUNTED = { input_tokens: 1, totalTokens: 1 };

async function ask(words: string, signal: AbortSignal): Promise<string> {
  const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: words }] }];
  const reply = await callPractice({ system: "", tools: [], messages, cacheKey: "" }, () => {}, signal);
  if (!reply.ok) return reply.message;
  return reply.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** What the person said last, in any of the formats. */
function lastWords(call: RelayCall): string {
  const body = asObject(JSON.parse(Buffer.from(call.body).toString("utf8")));
  if (typeof body.input === "string") return body.input;
  const turns = [...asList(body.messages), ...asList(body.input), ...asList(body.contents)].map(asObject);
  const last = turns.findLast(({ role }) => role === "user");
  const content = last?.content ?? last?.parts;
  if (typeof content === "string") return content;
  const texts = asList(content).flatMap((part) => asText(asObject(part).text) ?? []);
  return texts.at(-1) ?? "";
}

function write(call: RelayCall, text: string): string {
  switch (call.api) {
    case "anthropic":
      return call.stream ? anthropicEvents(text) : JSON.stringify(anthropicMessage(text));
    case "openai-chat":
      return call.stream ? chatEvents(text) : JSON.stringify(chatAnswer(text));
    case "openai-responses":
      return call.stream ? responsesEvents(text) : JSON.stringify(response(text));
    case "google":
      return call.stream ? events([[undefined, candidate(text)]]) : JSON.stringify(candidate(text));
    default:
      return assertNever(call.api);
  }
}

const ID = "practice";

function events(all: readonly (readonly [name: string | undefined, data: unknown])[]): string {
  return all.map(([name, data]) => `${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`).join("");
}

function anthropicMessage(text: string) {
  return {
    id: `msg_${ID}`,
    type: "message",
    role: "assistant",
    model: PRACTICE_MODEL,
    content: text === "" ? [] : [{ type: "text", text }],
    stop_reason: text === "" ? null : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  };
}

function anthropicEvents(text: string): string {
  const all = [
    { type: "message_start", message: anthropicMessage("") },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 0 } },
    { type: "message_stop" },
  ];
  return events(all.map((event) => [event.type, event]));
}

const NO_TOKENS = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

function chatAnswer(text: string) {
  const message = { role: "assistant", content: text };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return {
    id: `chatcmpl-${ID}`,
    object: "chat.completion",
    created: 0,
    model: PRACTICE_MODEL,
    choices,
    usage: NO_TOKENS,
  };
}

function chatEvents(text: string): string {
  const chunk = (delta: object, finish: string | null, more = {}) => ({
    id: `chatcmpl-${ID}`,
    object: "chat.completion.chunk",
    created: 0,
    model: PRACTICE_MODEL,
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  });
  const all = [chunk({ role: "assistant", content: text }, null), chunk({}, "stop", { usage: NO_TOKENS })];
  return `${events(all.map((one) => [undefined, one]))}data: [DONE]\n\n`;
}

function item(text: string) {
  const content = [{ type: "output_text", text, annotations: [] }];
  return { id: `msg_${ID}`, type: "message", status: "completed", role: "assistant", content };
}

function response(text: string, status = "completed") {
  const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  const output = status === "completed" ? [item(text)] : [];
  return { id: `resp_${ID}`, object: "response", created_at: 0, status, model: PRACTICE_MODEL, output, usage };
}

function responsesEvents(text: string): string {
  const at = { item_id: `msg_${ID}`, output_index: 0, content_index: 0 };
  const part = { type: "output_text", text: "", annotations: [] };
  const all = [
    { type: "response.created", response: response("", "in_progress") },
    { type: "response.output_item.added", output_index: 0, item: { ...item(""), status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...at, part },
    { type: "response.output_text.delta", ...at, delta: text },
    { type: "response.output_text.done", ...at, text },
    { type: "response.content_part.done", ...at, part: { ...part, text } },
    { type: "response.output_item.done", output_index: 0, item: item(text) },
    { type: "response.completed", response: response(text) },
  ];
  return events(all.map((event, i) => [event.type, { ...event, sequence_number: i }]));
}

function candidate(text: string) {
  const content = { role: "model", parts: [{ text }] };
  const usageMetadata = { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 };
  return { candidates: [{ index: 0, content, finishReason: "STOP" }], usageMetadata, modelVersion: PRACTICE_MODEL };
}
