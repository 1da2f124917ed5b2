/**
 * Anthropic Messages, as `POST /v1/messages` speaks it.
 *
 * Documentation: https://docs.anthropic.com/en/api/messages-streaming
 */
import {
  asList,
  asObject,
  asText,
  callId,
  cutText,
  finishOf,
  inputText,
  type Loose,
  pushUserParts,
  sse,
  withImages,
} from "./kit.ts";
import type { FailureKind, NormalMessage, NormalPart, Reply, ScriptedFailure, Speaker } from "./types.ts";

const STOP = { stop: "end_turn", "tool-calls": "tool_use", length: "max_tokens", refusal: "refusal" } as const;

const FAILURES: Record<FailureKind, { status: number; type: string; message: string }> = {
  auth: { status: 401, type: "authentication_error", message: "invalid x-api-key" },
  billing: {
    status: 400,
    type: "invalid_request_error",
    message: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
  },
  "rate-limit": { status: 429, type: "rate_limit_error", message: "This request would exceed your rate limit." },
  overload: { status: 529, type: "overloaded_error", message: "Overloaded" },
  "context-overflow": {
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 210000 tokens > 200000 maximum",
  },
  format: { status: 400, type: "invalid_request_error", message: "messages.0: all messages must have content" },
  "not-found": { status: 404, type: "not_found_error", message: "model: no-such-model" },
  server: { status: 500, type: "api_error", message: "Internal server error" },
};

export const anthropic: Speaker = {
  read(body) {
    const messages: NormalMessage[] = [];
    let cacheMarks = 0;
    const mark = (part: Loose) => {
      if (part.cache_control) cacheMarks++;
    };
    const system =
      typeof body.system === "string"
        ? body.system
        : asList(body.system)
            .map((part) => {
              mark(part);
              return asText(part.text);
            })
            .join("");
    const tools = asList(body.tools).map((tool) => {
      mark(tool);
      return asText(tool.name);
    });
    for (const message of asList(body.messages)) {
      const content = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
      const parts: NormalPart[] = [];
      for (const part of asList(content)) {
        mark(part);
        const normal = readPart(part);
        if (normal) parts.push(normal);
      }
      if (message.role === "assistant") messages.push({ role: "assistant", parts });
      else pushUserParts(messages, parts);
    }
    return { system, tools, messages, cacheMarks };
  },

  events(reply, figures, request) {
    const events: string[] = [];
    const push = (data: Loose) => events.push(sse(data, data.type as string));
    push({
      type: "message_start",
      message: {
        id: `msg_${request.messages.length}`,
        type: "message",
        role: "assistant",
        model: request.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: usageOf(figures, 1),
      },
    });
    let index = 0;
    const block = (start: Loose, deltas: Loose[]) => {
      push({ type: "content_block_start", index, content_block: start });
      for (const delta of deltas) push({ type: "content_block_delta", index, delta });
      push({ type: "content_block_stop", index });
      index++;
    };
    if (reply.thinking) {
      block({ type: "thinking", thinking: "", signature: "" }, [
        ...cutText(reply.thinking.text, reply.pieces).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: reply.thinking.signature ?? "" },
      ]);
    }
    if (reply.text) {
      block(
        { type: "text", text: "" },
        cutText(reply.text, reply.pieces).map((text) => ({ type: "text_delta", text })),
      );
    }
    for (const [i, call] of (reply.toolCalls ?? []).entries()) {
      block(
        { type: "tool_use", id: callId(call, i, "toolu", request.messages.length), name: call.name, input: {} },
        cutText(inputText(call), 2).map((partial_json) => ({ type: "input_json_delta", partial_json })),
      );
    }
    push({
      type: "message_delta",
      delta: { stop_reason: STOP[finishOf(reply)], stop_sequence: null },
      usage: { output_tokens: figures.output },
    });
    push({ type: "message_stop" });
    return events;
  },

  whole(reply, figures, request) {
    return {
      id: `msg_${request.messages.length}`,
      type: "message",
      role: "assistant",
      model: request.model,
      content: wholeContent(reply, request.messages.length),
      stop_reason: STOP[finishOf(reply)],
      stop_sequence: null,
      usage: usageOf(figures, figures.output),
    };
  },

  failure(fail) {
    const known = FAILURES[fail.kind ?? "server"];
    return {
      status: fail.status ?? known.status,
      body: { type: "error", error: { type: known.type, message: fail.message ?? known.message } },
    };
  },

  failureEvent(fail: ScriptedFailure) {
    return sse(this.failure(fail).body, "error");
  },
};

function readPart(part: Loose): NormalPart | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: asText(part.text) };
    case "image": {
      const source = asObject(part.source);
      return { type: "image", mediaType: asText(source.media_type), data: asText(source.data) };
    }
    case "thinking":
      return { type: "thinking", text: asText(part.thinking), signature: asText(part.signature) };
    case "redacted_thinking":
      return { type: "thinking", text: "", signature: asText(part.data) };
    case "tool_use":
      return { type: "tool-call", id: asText(part.id), name: asText(part.name), input: part.input };
    case "tool_result":
      return {
        type: "tool-result",
        id: asText(part.tool_use_id),
        text:
          typeof part.content === "string"
            ? part.content
            : asList(part.content)
                .map((inner) => asText(asObject(inner).text))
                .join(""),
        ...(part.is_error ? { isError: true } : {}),
        ...withImages(
          asList(part.content).flatMap((inner) => {
            const source = asObject(inner.source);
            return inner.type === "image" ? [{ mediaType: asText(source.media_type), data: asText(source.data) }] : [];
          }),
        ),
      };
    default:
      return undefined;
  }
}

function wholeContent(reply: Reply, turn: number): Loose[] {
  const content: Loose[] = [];
  if (reply.thinking) {
    content.push({ type: "thinking", thinking: reply.thinking.text, signature: reply.thinking.signature ?? "" });
  }
  if (reply.text) content.push({ type: "text", text: reply.text });
  for (const [i, call] of (reply.toolCalls ?? []).entries()) {
    content.push({
      type: "tool_use",
      id: callId(call, i, "toolu", turn),
      name: call.name,
      input: call.raw ?? call.input ?? {},
    });
  }
  return content;
}

function usageOf(figures: { input: number; cacheRead: number; cacheWrite: number }, output: number): Loose {
  return {
    input_tokens: figures.input,
    output_tokens: output,
    cache_read_input_tokens: figures.cacheRead,
    cache_creation_input_tokens: figures.cacheWrite,
  };
}
