/**
 * OpenAI Chat Completions, as `POST /v1/chat/completions` speaks it, with `reasoning_content` as local servers send it.
 *
 * Documentation: https://platform.openai.com/docs/api-reference/chat/streaming
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
  parseLoosely,
  pushUserParts,
  readDataUrl,
  sse,
} from "./kit.ts";
import { openaiFailure } from "./openai-failures.ts";
import type { Figures, NormalMessage, NormalPart, NormalRequest, Reply, Speaker } from "./types.ts";

const FINISH = { stop: "stop", "tool-calls": "tool_calls", length: "length", refusal: "content_filter" } as const;

export const openaiChat: Speaker = {
  read(body) {
    const messages: NormalMessage[] = [];
    let system = "";
    for (const message of asList(body.messages)) {
      const texts = textsOf(message.content);
      switch (message.role) {
        case "system":
        case "developer":
          system += texts.join("");
          break;
        case "assistant": {
          const parts: NormalPart[] = [];
          if (message.reasoning_content) parts.push({ type: "thinking", text: asText(message.reasoning_content) });
          for (const text of texts) if (text) parts.push({ type: "text", text });
          for (const call of asList(message.tool_calls)) {
            const fn = asObject(call.function);
            const input = parseLoosely(asText(fn.arguments));
            parts.push({ type: "tool-call", id: asText(call.id), name: asText(fn.name), input });
          }
          messages.push({ role: "assistant", parts });
          break;
        }
        case "tool": {
          const part: NormalPart = { type: "tool-result", id: asText(message.tool_call_id), text: texts.join("") };
          const last = messages.at(-1);
          if (last?.role === "tool") last.parts.push(part);
          else messages.push({ role: "tool", parts: [part] });
          break;
        }
        default:
          pushUserParts(messages, userParts(message.content));
      }
    }
    return {
      system,
      tools: asList(body.tools).map((tool) => asText(asObject(tool.function).name)),
      messages,
      cacheMarks: body.prompt_cache_key ? 1 : 0,
    };
  },

  events(reply, figures, request) {
    const events: string[] = [];
    const base = { id: `chatcmpl-${request.messages.length}`, object: "chat.completion.chunk", created: 1_750_000_000 };
    const push = (delta: Loose, finish: string | null = null) =>
      events.push(sse({ ...base, model: request.model, choices: [{ index: 0, delta, finish_reason: finish }] }));
    push({ role: "assistant", content: "" });
    for (const text of cutText(reply.thinking?.text ?? "", reply.pieces)) push({ reasoning_content: text });
    for (const content of cutText(reply.text ?? "", reply.pieces)) push({ content });
    for (const [index, call] of (reply.toolCalls ?? []).entries()) {
      const [first = "", ...rest] = cutText(inputText(call), 2);
      const id = callId(call, index, "call", request.messages.length);
      push({ tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: first } }] });
      for (const more of rest) push({ tool_calls: [{ index, function: { arguments: more } }] });
    }
    push({}, FINISH[finishOf(reply)]);
    events.push(sse({ ...base, model: request.model, choices: [], usage: usageOf(figures) }));
    events.push("data: [DONE]\n\n");
    return events;
  },

  whole(reply, figures, request) {
    return {
      id: `chatcmpl-${request.messages.length}`,
      object: "chat.completion",
      created: 1_750_000_000,
      model: request.model,
      choices: [{ index: 0, message: wholeMessage(reply, request), finish_reason: FINISH[finishOf(reply)] }],
      usage: usageOf(figures),
    };
  },

  failure: openaiFailure,

  failureEvent(fail) {
    return sse(openaiFailure(fail).body);
  },
};

function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return asList(content).map((part) => asText(part.text));
}

function userParts(content: unknown): NormalPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return asList(content).map((part) =>
    part.image_url ? readDataUrl(asText(asObject(part.image_url).url)) : { type: "text", text: asText(part.text) },
  );
}

function wholeMessage(reply: Reply, request: NormalRequest): Loose {
  const calls = (reply.toolCalls ?? []).map((call, index) => ({
    id: callId(call, index, "call", request.messages.length),
    type: "function",
    function: { name: call.name, arguments: inputText(call) },
  }));
  return {
    role: "assistant",
    content: reply.text ?? null,
    ...(reply.thinking ? { reasoning_content: reply.thinking.text } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function usageOf(figures: Figures): Loose {
  const prompt = figures.input + figures.cacheRead + figures.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: figures.output,
    total_tokens: prompt + figures.output,
    prompt_tokens_details: { cached_tokens: figures.cacheRead },
  };
}
