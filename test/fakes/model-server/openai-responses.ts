/**
 * OpenAI Responses, as `POST /v1/responses` speaks it.
 *
 * Documentation: https://platform.openai.com/docs/api-reference/responses-streaming
 */
import {
  asList,
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
  withImages,
} from "./kit.ts";
import { openaiFailure } from "./openai-failures.ts";
import type { Figures, NormalMessage, NormalPart, NormalRequest, Reply, Speaker } from "./types.ts";

export const openaiResponses: Speaker = {
  read(body) {
    const messages: NormalMessage[] = [];
    let system = asText(body.instructions);
    const assistant = (part: NormalPart) => {
      const last = messages.at(-1);
      if (last?.role === "assistant") last.parts.push(part);
      else messages.push({ role: "assistant", parts: [part] });
    };
    const items = typeof body.input === "string" ? [{ role: "user", content: body.input }] : asList(body.input);
    for (const item of items as Loose[]) {
      const texts =
        typeof item.content === "string" ? [item.content] : asList(item.content).map((part) => asText(part.text));
      if (item.type === "function_call") {
        const input = parseLoosely(asText(item.arguments));
        assistant({ type: "tool-call", id: asText(item.call_id), name: asText(item.name), input });
      } else if (item.type === "function_call_output") {
        const output = asList(item.output);
        const text = output.length ? output.map((one) => asText(one.text)).join("") : asText(item.output);
        const urls = output.flatMap((one) => (one.type === "input_image" ? [asText(one.image_url)] : []));
        const images = urls.map((url) => {
          const [, mediaType = "", data = ""] = /^data:([^;]*);base64,(.*)$/.exec(url) ?? [];
          return { mediaType, data };
        });
        const part: NormalPart = { type: "tool-result", id: asText(item.call_id), text, ...withImages(images) };
        const last = messages.at(-1);
        if (last?.role === "tool") last.parts.push(part);
        else messages.push({ role: "tool", parts: [part] });
      } else if (item.type === "reasoning") {
        const text = asList(item.summary)
          .map((part) => asText(part.text))
          .join("");
        assistant({ type: "thinking", text, signature: asText(item.encrypted_content) });
      } else if (item.role === "system" || item.role === "developer") {
        system += texts.join("");
      } else if (item.role === "assistant") {
        for (const text of texts) assistant({ type: "text", text });
      } else {
        pushUserParts(messages, userParts(item.content));
      }
    }
    return {
      system,
      tools: asList(body.tools).flatMap(namesOf),
      messages,
      cacheMarks: body.prompt_cache_key ? 1 : 0,
    };
  },

  events(reply, figures, request) {
    const events: string[] = [];
    let sequence = 0;
    const push = (data: Loose) => events.push(sse({ ...data, sequence_number: sequence++ }, data.type as string));
    const base = { id: `resp_${request.messages.length}`, object: "response", created_at: 1_750_000_000 };
    push({ type: "response.created", response: { ...base, model: request.model, status: "in_progress" } });
    for (const [output_index, item] of itemsOf(reply, request).entries()) {
      streamItem(item, output_index, reply, push);
    }
    const cutShort = finishOf(reply) === "length";
    push({
      type: cutShort ? "response.incomplete" : "response.completed",
      response: {
        ...base,
        model: request.model,
        status: cutShort ? "incomplete" : "completed",
        incomplete_details: cutShort ? { reason: "max_output_tokens" } : null,
        usage: usageOf(figures),
      },
    });
    return events;
  },

  whole(reply, figures, request) {
    const cutShort = finishOf(reply) === "length";
    return {
      id: `resp_${request.messages.length}`,
      object: "response",
      created_at: 1_750_000_000,
      model: request.model,
      status: cutShort ? "incomplete" : "completed",
      incomplete_details: cutShort ? { reason: "max_output_tokens" } : null,
      output: itemsOf(reply, request),
      usage: usageOf(figures),
    };
  },

  failure: openaiFailure,

  failureEvent(fail) {
    const { error } = openaiFailure(fail).body;
    return sse({
      type: "response.failed",
      sequence_number: 99,
      response: { error: { code: error.code ?? error.type, message: error.message } },
    });
  },
};

function itemsOf(reply: Reply, request: NormalRequest): Loose[] {
  const turn = request.messages.length;
  const items: Loose[] = [];
  if (reply.thinking) {
    items.push({
      type: "reasoning",
      id: `rs_${turn}`,
      encrypted_content: reply.thinking.signature ?? null,
      summary: [{ type: "summary_text", text: reply.thinking.text }],
    });
  }
  if (reply.text) {
    const refusal = finishOf(reply) === "refusal";
    items.push({
      type: "message",
      id: `msg_${turn}`,
      role: "assistant",
      status: "completed",
      content: [
        refusal ? { type: "refusal", refusal: reply.text } : { type: "output_text", text: reply.text, annotations: [] },
      ],
    });
  }
  for (const [i, call] of (reply.toolCalls ?? []).entries()) {
    items.push({
      type: "function_call",
      id: `fc_${turn}_${i}`,
      call_id: callId(call, i, "call", turn),
      ...splitName(call.name, request.tools),
      arguments: inputText(call),
      status: "completed",
    });
  }
  return items;
}

/** Tools of a namespace are listed, and called by a script, as `namespace.name`. */
function namesOf(tool: Loose): string[] {
  if (tool.type !== "namespace") return [asText(tool.name)];
  return asList(tool.tools).map(({ name }) => `${asText(tool.name)}.${asText(name)}`);
}

function splitName(name: string, listed: readonly string[]): Loose {
  const dot = name.lastIndexOf(".");
  if (dot < 0 || !listed.includes(name)) return { name };
  return { namespace: name.slice(0, dot), name: name.slice(dot + 1) };
}

function streamItem(item: Loose, output_index: number, reply: Reply, push: (data: Loose) => void): void {
  const at = { item_id: item.id, output_index };
  if (item.type === "reasoning") {
    push({ type: "response.output_item.added", output_index, item: { type: "reasoning", id: item.id, summary: [] } });
    push({ type: "response.reasoning_summary_part.added", ...at, summary_index: 0 });
    for (const delta of cutText(reply.thinking?.text ?? "", reply.pieces)) {
      push({ type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta });
    }
    push({ type: "response.reasoning_summary_part.done", ...at, summary_index: 0 });
  } else if (item.type === "message") {
    push({ type: "response.output_item.added", output_index, item: { ...item, status: "in_progress", content: [] } });
    const type = finishOf(reply) === "refusal" ? "response.refusal.delta" : "response.output_text.delta";
    for (const delta of cutText(reply.text ?? "", reply.pieces)) push({ type, ...at, content_index: 0, delta });
  } else {
    push({
      type: "response.output_item.added",
      output_index,
      item: { ...item, arguments: "", status: "in_progress" },
    });
    for (const delta of cutText(asText(item.arguments), 2)) {
      push({ type: "response.function_call_arguments.delta", ...at, delta });
    }
    push({ type: "response.function_call_arguments.done", ...at, arguments: item.arguments });
  }
  push({ type: "response.output_item.done", output_index, item });
}

function usageOf(figures: Figures): Loose {
  const input = figures.input + figures.cacheRead + figures.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: figures.cacheRead },
    output_tokens: figures.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + figures.output,
  };
}

function userParts(content: unknown): NormalPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return asList(content).map((part) =>
    part.type === "input_image" ? readDataUrl(asText(part.image_url)) : { type: "text", text: asText(part.text) },
  );
}
