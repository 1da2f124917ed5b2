/**
 * A rehearsal: one whole call against a canned answer, without the network. V8 compiles a function when it is first called, and a
 * provider library builds its schemas then; done here, after ready, the first real turn doesn't pay for it.
 */
import type { Clock } from "../../../core/kit/index.ts";
import { findFacts } from "../catalogue.ts";
import type { Api, Provider } from "../providers.ts";
import { type AttemptResult, ProviderLine } from "./attempt.ts";
import type { PostRequest } from "./http.ts";

export function rehearse(provider: Provider, modelId: string, clock: Clock): Promise<AttemptResult> {
  const line = new ProviderLine({
    provider,
    modelId,
    facts: findFacts(modelId),
    limits: { firstByteMs: 10_000, idleMs: 10_000, maxOutputTokens: 16 },
    clock,
    post: canned(provider.api),
  });
  const input = { type: "object", properties: { text: { type: "string" } } };
  return line.attempt(
    { name: "rehearsal", key: "rehearsal" },
    {
      system: "s",
      tools: [{ name: "t", description: "t", input }],
      messages: [
        { role: "user", content: [{ type: "text", text: "u" }] },
        { role: "assistant", content: [{ type: "tool-call", id: "1", name: "t", input: {} }] },
        { role: "tool", content: [{ type: "tool-result", id: "1", name: "t", text: "r" }] },
      ],
      cacheKey: "rehearsal",
    },
    () => {},
    new AbortController().signal,
  );
}

/** The shortest honest answer in each protocol: "ok", with usage. */
const CANNED: Record<Api, readonly unknown[]> = {
  anthropic: [
    {
      type: "message_start",
      message: { id: "m", model: "m", role: "assistant", content: [], usage: { input_tokens: 1, output_tokens: 1 } },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ok" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ],
  "openai-chat": [
    { id: "c", choices: [{ index: 0, delta: { role: "assistant", content: "ok" }, finish_reason: null }] },
    { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { id: "c", choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
  ],
  "openai-responses": [
    { type: "response.created", response: { id: "r", created_at: 1, model: "m" } },
    { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "i" } },
    { type: "response.output_text.delta", item_id: "i", delta: "ok" },
    { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "i" } },
    { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 1 } } },
  ],
  google: [
    {
      candidates: [{ content: { parts: [{ text: "ok" }], role: "model" }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
    },
  ],
};

function canned(api: Api): PostRequest {
  const text = CANNED[api].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const answer = {
    status: 200,
    headers: {},
    read: async (onPiece: (piece: Buffer) => void) => onPiece(Buffer.from(text)),
  };
  return async () => ({ ...answer, beginning: async () => text });
}
