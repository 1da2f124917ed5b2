/** `POST /v1/chat/completions`, whole and streamed. */
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import { toErrorShape } from "../../../core/domain/index.ts";
import type { ChatAnswer } from "../../../core/protocol/index.ts";
import { answerHeaders, call, callerOf } from "../call.ts";
import { type Env, parse, publicShape, readJson } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import { type asChat, asChatWithFiles, mostBytes, mustKnow, type Said } from "./conversation.ts";
import { failedShape, hasFailed, openaiShape, turnFailed } from "./errors.ts";
import { contentOf, contentPart } from "./files.ts";
import { follow } from "./follow.ts";

const toolCall = z.looseObject({
  id: z.string().min(1).max(256),
  function: z.looseObject({ name: z.string().min(1).max(256), arguments: z.string() }),
});
const message = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.union([z.string(), z.array(contentPart), z.null()], "text, or a list of parts").optional(),
  tool_calls: z.array(toolCall).nullish(),
  tool_call_id: z.string().max(256).optional(),
});
export const functionSpec = z.looseObject({
  name: z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, "letters, digits, _ . -"),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});

// Loose: clients send many settings we have no use for; refusing them would break every one of them.
const completion = z.looseObject({
  model: z.string().min(1).max(256),
  messages: z.array(message).min(1).max(10_000),
  user: z.string().min(1).max(256).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  n: z.literal(1, "only one answer is made").nullish(),
  tools: z
    .array(z.looseObject({ type: z.literal("function"), function: functionSpec }))
    .max(256)
    .nullish(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      z.looseObject({ type: z.literal("function"), function: z.looseObject({ name: z.string() }) }),
    ])
    .nullish(),
});
type Completion = z.output<typeof completion>;

export async function completions(c: Context<Env>, parts: GatewayParts): Promise<Response> {
  const body = parse(completion, await readJson(c, mostBytes(parts)));
  mustKnow(parts, body.model, (await parts.handlers()["models.list"]({}, callerOf(c))).models);
  const wish = {
    model: body.model,
    said: body.messages.map(said),
    user: body.user ?? undefined,
    tools: body.tools?.length ? body.tools.map((t) => t.function) : undefined,
    toolChoice: typeof body.tool_choice === "object" ? body.tool_choice?.function.name : body.tool_choice,
    key: c.req.header("idempotency-key"),
  };
  const params = await asChatWithFiles(c, parts, wish);
  if (body.stream) return stream(c, parts, body, params);
  const answer = await call(parts, "chat.send", params, callerOf(c));
  if (hasFailed(answer)) return turnFailed(c, answer);
  return c.json(whole(body, answer), 200, answerHeaders(answer));
}

function said(m: Completion["messages"][number]): Said {
  const { text, files } = contentOf(m.content);
  switch (m.role) {
    case "system":
    case "developer":
      return { role: "system", text };
    case "user":
      return { role: "user", text, files };
    case "tool":
      return { role: "tool", id: m.tool_call_id ?? "", text };
    case "assistant": {
      const calls = (m.tool_calls ?? []).map((t) => ({ id: t.id, name: t.function.name, input: t.function.arguments }));
      return { role: "assistant", text, calls };
    }
  }
}

function toolCalls(a: ChatAnswer) {
  return a.toolCalls?.map((t) => ({
    id: t.id,
    type: "function" as const,
    function: { name: t.name, arguments: JSON.stringify(t.input) },
  }));
}

function usageOf(a: ChatAnswer) {
  const u = a.usage ?? { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const input = u.inputTokens + u.cacheReadTokens + u.cacheWriteTokens;
  return {
    prompt_tokens: input,
    completion_tokens: u.outputTokens,
    total_tokens: input + u.outputTokens,
    prompt_tokens_details: { cached_tokens: u.cacheReadTokens },
  };
}

function whole(body: Completion, a: ChatAnswer) {
  const calls = toolCalls(a);
  const message = { role: "assistant", content: calls && !a.response ? null : a.response, refusal: null };
  return {
    id: `chatcmpl-${a.turn}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: body.model,
    choices: [
      {
        index: 0,
        message: { ...message, ...(calls ? { tool_calls: calls } : {}) },
        finish_reason: calls ? "tool_calls" : "stop",
        logprobs: null,
      },
    ],
    usage: usageOf(a),
  };
}

function stream(c: Context<Env>, parts: GatewayParts, body: Completion, params: ReturnType<typeof asChat>): Response {
  const abort = new AbortController();
  const caller = { ...callerOf(c), signal: abort.signal };
  return streamSSE(c, async (sse) => {
    sse.onAbort(() => abort.abort());
    const created = Math.floor(Date.now() / 1000);
    let id = "chatcmpl-pending";
    const write = (more: object) =>
      sse.writeSSE({
        data: JSON.stringify({ id, object: "chat.completion.chunk", created, model: body.model, ...more }),
      });
    const chunk = (delta: object, finish: string | null = null) =>
      write({ choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }] });
    try {
      const answer = await follow(parts, params, caller, {
        accepted: (a) => {
          id = `chatcmpl-${a.turn}`;
          return chunk({ role: "assistant", content: "" });
        },
        text: (content) => chunk({ content }),
      });
      if (hasFailed(answer)) await sse.writeSSE({ data: JSON.stringify({ error: failedShape(answer) }) });
      const calls = toolCalls(answer);
      if (calls) await chunk({ tool_calls: calls.map((one, index) => ({ index, ...one })) });
      await chunk({}, calls ? "tool_calls" : "stop");
      if (body.stream_options?.include_usage) await write({ choices: [], usage: usageOf(answer) });
    } catch (error) {
      await sse.writeSSE({
        data: JSON.stringify({ error: openaiShape(publicShape(toErrorShape(error), parts.redact)) }),
      });
    }
    await sse.writeSSE({ data: "[DONE]" });
  });
}
