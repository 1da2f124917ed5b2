/**
 * An answer that Lares writes itself, in the words of a provider: of the practice model, or of a script. In pieces, as a provider would send
 * it, with a tool call at most.
 */
import type { ModelApi, ScriptAnswer } from "../../../core/contracts/index.ts";
import { assertNever, type JsonObject } from "../../../core/domain/index.ts";

export interface WrittenAnswer {
  /** The model's name in it. */
  model: string;
  text: readonly string[];
  call?: ScriptAnswer["call"];
  usage: { input: number; output: number };
}

const ID = "lares";

type Sent = { type: string; [field: string]: unknown };

/** As one document. */
export function writeWhole(api: ModelApi, answer: WrittenAnswer): string {
  switch (api) {
    case "anthropic":
      return JSON.stringify(anthropicMessage(answer));
    case "openai-chat":
      return JSON.stringify(chatAnswer(answer));
    case "openai-responses":
      return JSON.stringify(response(answer, true));
    case "google":
      return JSON.stringify(candidate(answer, answer.text.join(""), true));
    default:
      return assertNever(api);
  }
}

/** As events: what comes before the words, each piece of them, and what comes after. */
export function writeEvents(api: ModelApi, answer: WrittenAnswer): string[] {
  switch (api) {
    case "anthropic":
      return anthropicEvents(answer);
    case "openai-chat":
      return chatEvents(answer);
    case "openai-responses":
      return responsesEvents(answer);
    case "google":
      return googleEvents(answer);
    default:
      return assertNever(api);
  }
}

function event(name: string | undefined, data: unknown): string {
  return `${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`;
}

const named = (all: readonly Sent[]) => all.map((one) => event(one.type, one)).join("");

function anthropicMessage({ model, text, call, usage }: WrittenAnswer) {
  const words = text.join("");
  return {
    id: `msg_${ID}`,
    type: "message",
    role: "assistant",
    model,
    content: [
      ...(words === "" ? [] : [{ type: "text", text: words }]),
      ...(call ? [{ type: "tool_use", id: call.id, name: call.name, input: call.input }] : []),
    ],
    stop_reason: call ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: usage.input, output_tokens: usage.output },
  };
}

function anthropicEvents(answer: WrittenAnswer): string[] {
  const { text, call, usage } = answer;
  const message = { ...anthropicMessage({ ...answer, text: [] }), content: [], stop_reason: null };
  const delta = (piece: string) => ({
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: piece },
  });
  const asked = call
    ? [
        {
          type: "content_block_start",
          index: 1,
          content_block: { type: "tool_use", id: call.id, name: call.name, input: {} },
        },
        {
          type: "content_block_delta",
          index: 1,
          delta: { type: "input_json_delta", partial_json: JSON.stringify(call.input) },
        },
        { type: "content_block_stop", index: 1 },
      ]
    : [];
  return [
    named([
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ]),
    ...text.map((piece) => named([delta(piece)])),
    named([
      { type: "content_block_stop", index: 0 },
      ...asked,
      {
        type: "message_delta",
        delta: { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null },
        usage: { output_tokens: usage.output },
      },
      { type: "message_stop" },
    ]),
  ];
}

function chatUsage({ usage: { input, output } }: WrittenAnswer) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function chatCalls(call: WrittenAnswer["call"]): { tool_calls?: object[] } {
  if (!call) return {};
  const wanted = { name: call.name, arguments: JSON.stringify(call.input) };
  return { tool_calls: [{ index: 0, id: call.id, type: "function", function: wanted }] };
}

function chatAnswer(answer: WrittenAnswer) {
  const { model, text, call } = answer;
  const message = { role: "assistant", content: text.join(""), ...chatCalls(call) };
  return {
    id: `chatcmpl-${ID}`,
    object: "chat.completion",
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason: call ? "tool_calls" : "stop" }],
    usage: chatUsage(answer),
  };
}

function chatEvents(answer: WrittenAnswer): string[] {
  const { model, text, call } = answer;
  const chunk = (delta: object, finish: string | null, more = {}) =>
    event(undefined, {
      id: `chatcmpl-${ID}`,
      object: "chat.completion.chunk",
      created: 0,
      model,
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...more,
    });
  const asked = call ? chunk(chatCalls(call), null) : "";
  const end = chunk({}, call ? "tool_calls" : "stop", { usage: chatUsage(answer) });
  return [...text.map((piece) => chunk({ role: "assistant", content: piece }, null)), `${asked}${end}data: [DONE]\n\n`];
}

function messageItem(text: string) {
  const content = [{ type: "output_text", text, annotations: [] }];
  return { id: `msg_${ID}`, type: "message", status: "completed", role: "assistant", content };
}

function callItem({ id, name, input }: NonNullable<WrittenAnswer["call"]>, status = "completed") {
  const text = status === "completed" ? JSON.stringify(input) : "";
  return { id: `fc_${ID}`, type: "function_call", status, call_id: id, name, arguments: text };
}

function response({ model, text, call, usage: { input, output } }: WrittenAnswer, isDone: boolean) {
  const items = [...(text.length === 0 ? [] : [messageItem(text.join(""))]), ...(call ? [callItem(call)] : [])];
  return {
    id: `resp_${ID}`,
    object: "response",
    created_at: 0,
    status: isDone ? "completed" : "in_progress",
    model,
    output: isDone ? items : [],
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
  };
}

function responsesEvents(answer: WrittenAnswer): string[] {
  const { text, call } = answer;
  let count = 0;
  const write = (...all: Sent[]) => all.map((one) => event(one.type, { ...one, sequence_number: count++ })).join("");
  const at = { item_id: `msg_${ID}`, output_index: 0, content_index: 0 };
  const part = { type: "output_text", text: "", annotations: [] };
  const words = text.join("");
  const hasWords = text.length > 0;
  const begin = { ...messageItem(""), status: "in_progress", content: [] };
  return [
    write(
      { type: "response.created", response: response(answer, false) },
      ...(hasWords
        ? [
            { type: "response.output_item.added", output_index: 0, item: begin },
            { type: "response.content_part.added", ...at, part },
          ]
        : []),
    ),
    ...text.map((delta) => write({ type: "response.output_text.delta", ...at, delta })),
    write(
      ...(hasWords
        ? [
            { type: "response.output_text.done", ...at, text: words },
            { type: "response.content_part.done", ...at, part: { ...part, text: words } },
            { type: "response.output_item.done", output_index: 0, item: messageItem(words) },
          ]
        : []),
      ...(call ? callEvents(call, hasWords ? 1 : 0) : []),
      { type: "response.completed", response: response(answer, true) },
    ),
  ];
}

function callEvents(call: NonNullable<WrittenAnswer["call"]>, index: number): Sent[] {
  const at = { item_id: `fc_${ID}`, output_index: index };
  const text = JSON.stringify(call.input);
  return [
    { type: "response.output_item.added", output_index: index, item: callItem(call, "in_progress") },
    { type: "response.function_call_arguments.delta", ...at, delta: text },
    { type: "response.function_call_arguments.done", ...at, arguments: text },
    { type: "response.output_item.done", output_index: index, item: callItem(call) },
  ];
}

function candidate({ model, call, usage: { input, output } }: WrittenAnswer, text: string, isLast: boolean) {
  const parts: JsonObject[] = [
    ...(text === "" ? [] : [{ text }]),
    ...(call && isLast ? [{ functionCall: { name: call.name, args: call.input } }] : []),
  ];
  const usageMetadata = { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output };
  const end = isLast ? { finishReason: "STOP" } : {};
  return { candidates: [{ index: 0, content: { role: "model", parts }, ...end }], usageMetadata, modelVersion: model };
}

function googleEvents(answer: WrittenAnswer): string[] {
  const pieces = answer.text.map((piece) => event(undefined, candidate(answer, piece, false)));
  return [...pieces, event(undefined, candidate(answer, "", true))];
}
