/** Streams for the readers' tests: the shapes the providers document, and the ones their imitators really send. */
import type { Api } from "../../providers.ts";

export interface Recorded {
  name: string;
  api: Api;
  /** Objects become JSON; strings go out as they are. */
  events: readonly unknown[];
  jsonTool?: boolean;
}

const anthropic = (name: string, blocks: readonly unknown[], stop = "end_turn"): Recorded => ({
  name,
  api: "anthropic",
  events: [
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        usage: { input_tokens: 12, cache_read_input_tokens: 3, cache_creation_input_tokens: 4, output_tokens: 1 },
      },
    },
    { type: "ping" },
    ...blocks,
    { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ],
});

const block = (index: number, content_block: unknown, ...deltas: unknown[]) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

const chat = (name: string, deltas: readonly unknown[], reason = "stop"): Recorded => ({
  name,
  api: "openai-chat",
  events: [
    ...deltas.map((delta) => ({ id: "c", choices: [{ index: 0, delta, finish_reason: null }] })),
    { id: "c", choices: [{ index: 0, delta: {}, finish_reason: reason }] },
    {
      id: "c",
      choices: [],
      usage: { prompt_tokens: 20, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 8 } },
    },
    "[DONE]",
  ],
});

/** What is undefined is not sent. */
const call = (index: number | undefined, { id, name, args = "" }: { id?: string; name?: string; args?: string }) => ({
  tool_calls: [{ index, id, type: id && "function", function: { name, arguments: args } }],
});

const responses = (name: string, events: readonly unknown[], end: Record<string, unknown> = {}): Recorded => ({
  name,
  api: "openai-responses",
  events: [
    { type: "response.created", response: { id: "r", created_at: 1, model: "m" } },
    ...events,
    {
      type: end.incomplete_details ? "response.incomplete" : "response.completed",
      response: {
        usage: { input_tokens: 20, output_tokens: 5, input_tokens_details: { cached_tokens: 8 } },
        ...end,
      },
    },
  ],
});

const google = (name: string, parts: readonly unknown[][], reason = "STOP"): Recorded => ({
  name,
  api: "google",
  events: parts.map((some, i) => ({
    candidates: [
      {
        content: { role: "model", parts: some },
        index: 0,
        ...(i === parts.length - 1 ? { finishReason: reason } : {}),
      },
    ],
    usageMetadata: {
      promptTokenCount: 20,
      candidatesTokenCount: i + 1,
      thoughtsTokenCount: 2,
      cachedContentTokenCount: 8,
    },
  })),
});

const message = { type: "message", id: "given-item" };
const reasoning = { type: "reasoning", id: "given-thought", encrypted_content: null, summary: [] };

export const STREAMS: readonly Recorded[] = [
  anthropic("text", [
    ...block(
      0,
      { type: "text", text: "" },
      { type: "text_delta", text: "Grüße, " },
      { type: "text_delta", text: "世界 🌍" },
    ),
  ]),
  anthropic(
    "thinking, words and two calls",
    [
      ...block(
        0,
        { type: "thinking", thinking: "", signature: "" },
        { type: "thinking_delta", thinking: "Let me " },
        { type: "thinking_delta", thinking: "see." },
        { type: "signature_delta", signature: "c2lnbmVk" },
      ),
      ...block(1, { type: "redacted_thinking", data: "aGlkZGVu" }),
      ...block(2, { type: "text", text: "" }, { type: "text_delta", text: "Looking." }),
      ...block(
        3,
        { type: "tool_use", id: "given-1", name: "exec", input: {} },
        { type: "input_json_delta", partial_json: "" },
        { type: "input_json_delta", partial_json: '{"command":' },
        { type: "input_json_delta", partial_json: '"ls"}' },
      ),
      ...block(4, { type: "tool_use", id: "given-2", name: "exec", input: {} }),
      ...block(5, { type: "tool_use", id: "given-3", name: "exec", input: { command: "whole" } }),
    ],
    "tool_use",
  ),
  anthropic(
    "cut by its limit",
    block(0, { type: "text", text: "" }, { type: "text_delta", text: "half" }),
    "max_tokens",
  ),
  anthropic("a refusal", [], "refusal"),
  chat("text", [{ role: "assistant", content: "" }, { content: "Grüße, " }, { content: "世界 🌍" }]),
  chat("thinking before and after words", [
    { reasoning_content: "hm" },
    { reasoning_content: "m." },
    { content: "So." },
    { reasoning: "wait" },
    { content: "Or so." },
  ]),
  chat("words in parts", [
    { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] },
    { content: [{ type: "text", text: "So." }] },
  ]),
  chat(
    "two calls in pieces",
    [
      { content: "Looking." },
      call(0, { id: "given-1", name: "exec" }),
      call(0, { args: '{"comm' }),
      call(0, { args: 'and":"ls"}' }),
      call(1, { id: "given-2", name: "exec", args: '{"command":' }),
      call(1, { args: '"pwd"}' }),
    ],
    "tool_calls",
  ),
  chat(
    "calls in one piece each, all under index 0",
    [
      call(0, { id: "given-1", name: "exec", args: '{"command":"ls"}' }),
      call(0, { id: "given-2", name: "exec", args: '{"command":"pwd"}' }),
    ],
    "tool_calls",
  ),
  chat(
    "calls without an index",
    [
      call(undefined, { id: "given-1", name: "exec", args: '{"command":"ls"}' }),
      call(undefined, { id: "given-2", name: "exec", args: '{"command":"pwd"}' }),
    ],
    "tool_calls",
  ),
  chat(
    "id and name in every piece",
    [
      call(0, { id: "given-1", name: "exec", args: '{"command":' }),
      call(0, { id: "given-1", name: "exec", args: '"ls"}' }),
    ],
    "tool_calls",
  ),
  chat(
    "the name after the input began",
    [call(0, { id: "given-1", args: '{"command":' }), call(0, { name: "exec", args: '"ls"}' })],
    "tool_calls",
  ),
  chat(
    "calls out of order",
    [
      call(1, { id: "given-2", name: "exec", args: '{"command":"second"}' }),
      call(0, { id: "given-1", name: "exec", args: '{"command":"first"}' }),
    ],
    "tool_calls",
  ),
  chat(
    "a signed call",
    [
      {
        tool_calls: [
          {
            index: 0,
            id: "given-1",
            function: { name: "exec", arguments: "{}" },
            extra_content: { google: { thought_signature: "c2lnbmVk" } },
          },
        ],
      },
    ],
    "tool_calls",
  ),
  chat("without ids", [call(0, { name: "exec", args: '{"command":"ls"}' })], "stop"),
  chat("cut by its limit", [{ content: "half" }], "length"),
  chat("a filtered answer", [{ content: "no" }], "content_filter"),
  responses("text", [
    { type: "response.output_item.added", output_index: 0, item: message },
    { type: "response.output_text.delta", item_id: "given-item", delta: "Grüße, " },
    { type: "response.output_text.delta", item_id: "given-item", delta: "世界 🌍" },
    { type: "response.output_item.done", output_index: 0, item: message },
  ]),
  responses("thinking in two summaries, then a call", [
    { type: "response.output_item.added", output_index: 0, item: reasoning },
    { type: "response.reasoning_summary_part.added", item_id: "given-thought", summary_index: 0 },
    { type: "response.reasoning_summary_text.delta", item_id: "given-thought", summary_index: 0, delta: "First." },
    { type: "response.reasoning_summary_part.done", item_id: "given-thought", summary_index: 0 },
    { type: "response.reasoning_summary_part.added", item_id: "given-thought", summary_index: 1 },
    { type: "response.reasoning_summary_text.delta", item_id: "given-thought", summary_index: 1, delta: "Second." },
    { type: "response.reasoning_summary_part.done", item_id: "given-thought", summary_index: 1 },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: { ...reasoning, encrypted_content: "ZW5jcnlwdGVk" },
    },
    {
      type: "response.output_item.added",
      output_index: 1,
      item: { type: "function_call", id: "given-item", call_id: "given-1", name: "exec", arguments: "" },
    },
    {
      type: "response.function_call_arguments.delta",
      item_id: "given-item",
      output_index: 1,
      delta: '{"command":"ls"}',
    },
    {
      type: "response.output_item.done",
      output_index: 1,
      item: {
        type: "function_call",
        id: "given-item",
        call_id: "given-1",
        name: "exec",
        arguments: '{"command":"ls"}',
        status: "completed",
      },
    },
  ]),
  responses("thinking without a summary", [
    { type: "response.output_item.added", output_index: 0, item: reasoning },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: { ...reasoning, encrypted_content: "ZW5jcnlwdGVk" },
    },
    { type: "response.output_item.added", output_index: 1, item: message },
    { type: "response.output_text.delta", item_id: "given-item", delta: "So." },
    { type: "response.output_item.done", output_index: 1, item: message },
  ]),
  responses(
    "cut by its limit",
    [
      { type: "response.output_item.added", output_index: 0, item: message },
      { type: "response.output_text.delta", item_id: "given-item", delta: "half" },
      { type: "response.output_item.done", output_index: 0, item: message },
    ],
    { incomplete_details: { reason: "max_output_tokens" } },
  ),
  responses("a refusal", [
    { type: "response.output_item.added", output_index: 0, item: message },
    { type: "response.refusal.delta", item_id: "given-item", delta: "I can't." },
    { type: "response.output_item.done", output_index: 0, item: message },
  ]),
  google("text", [[{ text: "Grüße, " }], [{ text: "世界 🌍" }], []]),
  google("thinking, a signed call and one without an input", [
    [{ text: "hm", thought: true }],
    [{ text: "m.", thought: true }],
    [{ text: "Looking." }],
    [
      { functionCall: { id: "given-1", name: "exec", args: { command: "ls" } }, thoughtSignature: "c2lnbmVk" },
      { functionCall: { id: "given-2", name: "exec" } },
    ],
    [],
  ]),
  google("a call without an id", [[{ functionCall: { name: "exec", args: {} } }], []]),
  google("a signature behind the words", [[{ text: "So." }], [{ text: "", thoughtSignature: "c2lnbmVk" }]]),
  google("cut by its limit", [[{ text: "half" }]], "MAX_TOKENS"),
  google("an answer that breaks the rules", [[{ text: "half" }]], "SAFETY"),
  {
    name: "a prompt that breaks the rules",
    api: "google",
    events: [{ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 20 } }],
  },
];
