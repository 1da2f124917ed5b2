/** `POST /v1/chat/completions`, whole and streamed. */
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import { assertNever, toErrorShape } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import type { ChatAnswer, Params } from "../../../core/protocol/index.ts";
import { answerHeaders, call, toCaller } from "../call.ts";
import { type HttpEnv, parse, publicShape, readJson } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import { asChatWithFiles, mostBytes, type SaidMessage } from "./conversation.ts";
import { failedShape, formatFailed, hasFailed, openaiShape, turnFailed, wrongFormat } from "./errors.ts";
import { contentPart, toContent } from "./files.ts";
import { followed } from "./follow.ts";
import { checkAnswer, sayChecked } from "./format.ts";
import { chosen } from "./known.ts";
import { completionSettings, readCompletionSettings, verbosityWords } from "./settings.ts";
import { answeringModel, besides, toArguments, toFacts } from "./truth.ts";

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

// Loose: the other fields are in a table in core/protocol.
const completion = z.looseObject({
  ...completionSettings,
  model: z.string().min(1).max(256),
  messages: z.array(message).min(1).max(10_000),
  user: z.string().min(1).max(256).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
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
const FORMAT = "response_format";

export async function completions(c: Context<HttpEnv>, parts: GatewayParts): Promise<Response> {
  const body = parse(completion, await readJson(c, mostBytes(parts)));
  const settings = readCompletionSettings(body);
  const asked = {
    chosen: await chosen(parts, body.model, toCaller(c)),
    settings,
    said: body.messages.map(said),
    instructions: verbosityWords(body.verbosity),
    user: body.user ?? undefined,
    tools: body.tools?.length ? body.tools.map((t) => t.function) : undefined,
    toolChoice: typeof body.tool_choice === "object" ? body.tool_choice?.function.name : body.tool_choice,
    key: c.req.header("idempotency-key"),
  };
  const params = await asChatWithFiles(c, parts, asked);
  const how = { settings, tools: asked.tools !== undefined };
  if (body.stream) return stream(c, parts, body, params, how);
  const answer = await call(parts, "chat.send", params, toCaller(c));
  if (hasFailed(answer)) return turnFailed(c, answer, FORMAT);
  const checked = checkAnswer(answer, settings.format);
  if ("wrong" in checked) return formatFailed(c, answer, wrongFormat(checked.wrong, FORMAT));
  return c.json(whole(body, { ...answer, response: checked.text }, how), 200, answerHeaders(answer));
}

function said(m: Completion["messages"][number]): SaidMessage {
  const { text, files } = toContent(m.content);
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
    default:
      return assertNever(m.role);
  }
}

function toolCalls(a: ChatAnswer) {
  return a.toolCalls?.map((t) => ({
    id: t.id,
    type: "function" as const,
    function: { name: t.name, arguments: toArguments(t.input) },
  }));
}

function toUsage(a: ChatAnswer) {
  const u = a.usage ?? { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const input = u.inputTokens + u.cacheReadTokens + u.cacheWriteTokens;
  return {
    prompt_tokens: input,
    completion_tokens: u.outputTokens,
    total_tokens: input + u.outputTokens,
    prompt_tokens_details: { cached_tokens: u.cacheReadTokens },
  };
}

type How = Parameters<typeof besides>[1];

function toFinish(a: ChatAnswer): string {
  if (a.toolCalls) return "tool_calls";
  return a.cut ? "length" : "stop";
}

function whole(body: Completion, a: ChatAnswer, how: How) {
  const calls = toolCalls(a);
  const content = calls && !a.response ? null : a.response + besides(a, how);
  return {
    id: `chatcmpl-${a.turn}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: answeringModel(a, body.model),
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, refusal: null, ...defined({ tool_calls: calls }) },
        finish_reason: toFinish(a),
        logprobs: null,
      },
    ],
    usage: toUsage(a),
    lares: toFacts(a),
  };
}

async function stream(
  c: Context<HttpEnv>,
  parts: GatewayParts,
  body: Completion,
  params: Params<"chat.send">,
  how: How,
): Promise<Response> {
  const { turn, head, abort } = await followed(c, parts, params);
  if (hasFailed(head)) return turnFailed(c, head, FORMAT);
  return streamSSE(c, async (sse) => {
    sse.onAbort(abort);
    const created = Math.floor(Date.now() / 1000);
    const id = `chatcmpl-${head.turn}`;
    let known = head;
    const write = (more: object) => {
      const model = turn.model() ?? answeringModel(known, body.model);
      return sse.writeSSE({ data: JSON.stringify({ id, object: "chat.completion.chunk", created, model, ...more }) });
    };
    const chunk = (delta: object, finish: string | null = null, more: object = {}) =>
      write({ choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }], ...more });
    // As OpenAI does: an object with `error` is the last thing in the stream. No chunk with a reason, and no [DONE].
    const fail = (error: object) => sse.writeSSE({ data: JSON.stringify({ error }) });
    try {
      known = await turn.begun();
      if (hasFailed(known)) return void (await fail(failedShape(known, FORMAT)));
      await chunk({ role: "assistant", content: "" });
      const { piece, end } = sayChecked(how.settings.format, (content) => chunk({ content }));
      const answer = await turn.to(piece);
      if (hasFailed(answer)) return void (await fail(failedShape(answer, FORMAT)));
      const wrong = await end(answer);
      if (wrong !== undefined) return void (await fail(wrongFormat(wrong, FORMAT)));
      const more = besides(answer, how);
      if (more) await chunk({ content: more });
      const calls = toolCalls(answer);
      if (calls) await chunk({ tool_calls: calls.map((one, index) => ({ index, ...one })) });
      await chunk({}, toFinish(answer), { lares: toFacts(answer) });
      if (body.stream_options?.include_usage) await write({ choices: [], usage: toUsage(answer) });
      await sse.writeSSE({ data: "[DONE]" });
    } catch (error) {
      await fail(openaiShape(publicShape(toErrorShape(error), parts.redact)));
    }
  });
}
