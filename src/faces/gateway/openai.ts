/**
 * The OpenAI-compatible door: models and chat completions, JSON and SSE. `model` names an agent (`lares/<agent>`) or a model;
 * `user` chooses the session. Without `user` the request is a conversation of its own, with the messages it carries.
 */
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import { AppError, ERROR_CODES, toErrorShape } from "../../core/domain/index.ts";
import type { ChatAnswer, Result } from "../../core/protocol/index.ts";
import { type Env, parse, publicShape, readJson } from "./http.ts";
import type { GatewayParts } from "./ports.ts";
import { type App, answerHeaders, callerOf, callMethod } from "./server.ts";

const textPart = z.looseObject({ type: z.literal("text"), text: z.string() });
const message = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.union([z.string(), z.array(textPart), z.null()]).optional(),
});

// Loose: clients send many settings we have no use for; refusing them would break every one of them.
const completion = z.looseObject({
  model: z.string().min(1).max(256),
  messages: z.array(message).min(1).max(10_000),
  user: z.string().min(1).max(256).optional(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
});
type Completion = z.output<typeof completion>;

export function openaiRoutes(app: App, parts: GatewayParts): void {
  app.get("/v1/models", async (c) => {
    const list = (await callMethod(parts, "models.list", {}, callerOf(c as never))) as Result<"models.list">;
    const created = 0;
    const data = [
      { id: "lares", object: "model", created, owned_by: "lares" },
      ...list.models.map((m) => ({ id: m.id, object: "model", created, owned_by: m.provider })),
    ];
    return c.json({ object: "list", data });
  });

  app.post("/v1/chat/completions", async (c) => {
    try {
      const body = parse(completion, await readJson(c as unknown as Context<Env>, parts.config.http.maxBodyBytes));
      const params = asChat(body, c.req.header("idempotency-key"));
      if (body.stream) return stream(c as never, parts, body, params);
      const answer = (await callMethod(parts, "chat.send", params, callerOf(c as never))) as ChatAnswer;
      if (answer.state === "failed" || answer.state === "attention") return failed(c as never, answer);
      return c.json(whole(body, answer), 200, answerHeaders(answer));
    } catch (error) {
      return openaiError(c as never, error, parts);
    }
  });
}

/** The last user message is what is said now; with `user` the session knows the rest. */
function asChat(body: Completion, idempotencyKey: string | undefined) {
  const texts = body.messages.map((m) => ({ role: m.role, text: textOf(m.content) }));
  const at = texts.findLastIndex((m) => m.role === "user");
  if (at < 0 || !texts[at]!.text.trim()) {
    throw new AppError("BAD_REQUEST", { message: "There is no user message with text.", hint: "Add one to messages." });
  }
  const agent = /^lares\/([a-z0-9][a-z0-9-]*)$/.exec(body.model)?.[1];
  const before = body.user ? [] : texts.slice(0, at).filter((m) => m.text);
  const transcript = before.map((m) => `${m.role}: ${m.text}`).join("\n\n");
  const said = texts[at]!.text;
  return {
    message: transcript ? `[The conversation so far, as the caller gives it]\n${transcript}\n\n[Now]\n${said}` : said,
    ...(body.user ? { user: body.user } : { once: true }),
    ...(agent ? { agent } : {}),
    ...(body.model.includes("/") && !agent ? { model: body.model } : {}),
    ...(idempotencyKey ? { idempotencyKey } : {}),
  };
}

function textOf(content: Completion["messages"][number]["content"]): string {
  if (typeof content === "string") return content;
  return content?.map((part) => part.text).join("\n") ?? "";
}

function whole(body: Completion, a: ChatAnswer) {
  const usage = a.usage && {
    prompt_tokens: a.usage.inputTokens + a.usage.cacheReadTokens + a.usage.cacheWriteTokens,
    completion_tokens: a.usage.outputTokens,
    total_tokens: a.usage.inputTokens + a.usage.cacheReadTokens + a.usage.cacheWriteTokens + a.usage.outputTokens,
  };
  return {
    id: `chatcmpl-${a.turn}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: body.model,
    choices: [{ index: 0, message: { role: "assistant", content: a.response }, finish_reason: "stop", logprobs: null }],
    ...(usage ? { usage } : {}),
  };
}

function stream(c: Context<Env>, parts: GatewayParts, body: Completion, params: object): Response {
  const abort = new AbortController();
  return streamSSE(c, async (sse) => {
    sse.onAbort(() => abort.abort());
    const created = Math.floor(Date.now() / 1000);
    let id = "chatcmpl-pending";
    const chunk = (delta: object, finish: string | null = null) =>
      sse.writeSSE({
        data: JSON.stringify({
          id,
          object: "chat.completion.chunk",
          created,
          model: body.model,
          choices: [{ index: 0, delta, finish_reason: finish }],
        }),
      });
    // The turn's id is known only once it is accepted; what is said before that is kept and sorted out then.
    let turn: string | undefined;
    let sent = "";
    const early: { turn: string; text: string }[] = [];
    const off = parts.bus.on((event) => {
      if (event.event !== "turn.delta") return;
      if (turn === undefined) early.push({ turn: event.turn, text: event.text });
      else if (event.turn === turn) {
        sent += event.text;
        void chunk({ content: event.text });
      }
    });
    try {
      const caller = { ...callerOf(c as never), signal: abort.signal };
      await chunk({ role: "assistant", content: "" });
      const accepted = (await callMethod(parts, "chat.send", { ...params, wait: false }, caller)) as ChatAnswer;
      turn = accepted.joined ?? accepted.turn;
      id = `chatcmpl-${accepted.turn}`;
      for (const e of early) {
        if (e.turn !== turn) continue;
        sent += e.text;
        await chunk({ content: e.text });
      }
      const answer = (await callMethod(parts, "turns.wait", { turn: accepted.turn }, caller)) as ChatAnswer;
      // The record is the truth: whatever was not streamed (a resumed turn, a joined message) comes as the rest.
      const rest = answer.response.startsWith(sent) ? answer.response.slice(sent.length) : `\n\n${answer.response}`;
      if (rest && sent.trim() !== answer.response.trim()) await chunk({ content: rest });
      await chunk({}, "stop");
      if (body.stream_options?.include_usage) {
        const { usage } = whole(body, answer);
        await sse.writeSSE({
          data: JSON.stringify({ id, object: "chat.completion.chunk", created, model: body.model, choices: [], usage }),
        });
      }
      await sse.writeSSE({ data: "[DONE]" });
    } catch (error) {
      const shape = publicShape(toErrorShape(error));
      await sse.writeSSE({ data: JSON.stringify({ error: { message: shape.message, type: "server_error", code: shape.code } }) });
    } finally {
      off();
    }
  });
}

function failed(c: Context<Env>, answer: ChatAnswer): Response {
  return c.json(
    { error: { message: answer.reason ?? "The turn failed.", type: "server_error", code: "turn_failed", param: null } },
    502,
    answerHeaders(answer),
  );
}

function openaiError(c: Context<Env>, error: unknown, parts: GatewayParts): Response {
  const inner = toErrorShape(error);
  if (inner.code === "INTERNAL") parts.log.error("request broke", { error: String((error as Error).stack ?? error) });
  const shape = publicShape(inner);
  const status = ERROR_CODES[shape.code];
  const type = status === 401 ? "authentication_error" : status < 500 ? "invalid_request_error" : "server_error";
  const text = shape.hint ? `${shape.message} ${shape.hint}` : shape.message;
  return c.json({ error: { message: text, type, code: shape.code.toLowerCase(), param: null } }, status as 400);
}
