/** `POST /v1/responses`, whole and streamed. A response's id names its turn; `previous_response_id` goes on in its session. */
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import { AppError, toErrorShape } from "../../../core/domain/index.ts";
import type { ChatAnswer, Params } from "../../../core/protocol/index.ts";
import { answerHeaders, call, toCaller } from "../call.ts";
import { type HttpEnv, parse, publicShape, readJson } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import { functionSpec } from "./completions.ts";
import { asChatWithFiles, mostBytes, type SaidMessage } from "./conversation.ts";
import { failedShape, formatFailed, hasFailed, openaiShape, turnFailed, wrongFormat } from "./errors.ts";
import { contentPart, toContent } from "./files.ts";
import { followed } from "./follow.ts";
import { checkAnswer, sayChecked } from "./format.ts";
import { chosen } from "./known.ts";
import { readResponseSettings, responseSettings, verbosityWords } from "./settings.ts";
import { answeringModel, besides, toArguments, toFacts } from "./truth.ts";

const item = z.union([
  z.looseObject({
    type: z.literal("function_call"),
    call_id: z.string().min(1).max(256),
    name: z.string().min(1).max(256),
    arguments: z.string(),
  }),
  z.looseObject({
    type: z.literal("function_call_output"),
    call_id: z.string().min(1).max(256),
    output: z.union([z.string(), z.array(contentPart)]),
  }),
  z.looseObject({
    type: z.literal("message").optional(),
    role: z.enum(["system", "developer", "user", "assistant"]),
    content: z.union([z.string(), z.array(contentPart)]),
  }),
]);

const request = z.looseObject({
  ...responseSettings,
  model: z.string().min(1).max(256),
  input: z.union([z.string().min(1).max(262_144), z.array(item).min(1).max(10_000)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().max(256).nullish(),
  user: z.string().min(1).max(256).nullish(),
  stream: z.boolean().nullish(),
  tools: z
    .array(functionSpec.extend({ type: z.literal("function", "only function tools are understood") }))
    .max(256)
    .nullish(),
  tool_choice: z
    .union([z.enum(["none", "auto", "required"]), z.looseObject({ type: z.literal("function"), name: z.string() })])
    .nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
});
type Request = z.output<typeof request>;
type Item = z.output<typeof item>;

const FORMAT = "text.format";
const ID = /^resp_(.+)$/;

export async function responses(c: Context<HttpEnv>, parts: GatewayParts): Promise<Response> {
  const body = parse(request, await readJson(c, mostBytes(parts)));
  const settings = readResponseSettings(body);
  const meant = await chosen(parts, body.model, toCaller(c));
  const session = body.previous_response_id ? await findAnswerSession(parts, body.previous_response_id) : undefined;
  const words = typeof body.input === "string" ? body.input : undefined;
  const asked = {
    chosen: meant,
    settings,
    said: words === undefined ? (body.input as Item[]).map(said) : [{ role: "user" as const, text: words, files: [] }],
    instructions: [body.instructions, verbosityWords(body.text?.verbosity)].filter(Boolean).join("\n\n") || undefined,
    user: body.user ?? undefined,
    session,
    tools: body.tools?.length ? body.tools : undefined,
    toolChoice: typeof body.tool_choice === "object" ? body.tool_choice?.name : body.tool_choice,
    key: c.req.header("idempotency-key"),
  };
  const params = await asChatWithFiles(c, parts, asked);
  const how = { settings, tools: asked.tools !== undefined };
  if (body.stream) return stream(c, parts, body, params, how);
  const answer = await call(parts, "chat.send", params, toCaller(c));
  if (hasFailed(answer)) return turnFailed(c, answer, FORMAT);
  const checked = checkAnswer(answer, settings.format);
  if ("wrong" in checked) return formatFailed(c, answer, wrongFormat(checked.wrong, FORMAT));
  return c.json(whole(body, answer, checked.text + besides(answer, how)), 200, answerHeaders(answer));
}

async function findAnswerSession(parts: GatewayParts, id: string): Promise<string> {
  const turn = ID.exec(id)?.[1];
  const session = turn && (await parts.findSession(turn));
  if (session) return session;
  throw new AppError("NOT_FOUND", {
    message: `There is no response "${id}".`,
    hint: "Leave out previous_response_id to start a new conversation.",
    details: { field: "previous_response_id" },
  });
}

type Parts = string | z.output<typeof contentPart>[];

function said(one: Item): SaidMessage {
  if ("role" in one && one.role !== undefined) {
    const m = one as { role: "system" | "developer" | "user" | "assistant"; content: Parts };
    const { text, files } = toContent(m.content);
    if (m.role === "assistant") return { role: "assistant", text, calls: [] };
    return m.role === "user" ? { role: "user", text, files } : { role: "system", text };
  }
  if (one.type === "function_call") {
    const f = one as { call_id: string; name: string; arguments: string };
    return { role: "assistant", text: "", calls: [{ id: f.call_id, name: f.name, input: f.arguments }] };
  }
  const o = one as { call_id: string; output: Parts };
  return { role: "tool", id: o.call_id, text: toContent(o.output).text };
}

function messageItem(turn: string, text: string, status = "completed") {
  const content = status === "completed" ? [{ type: "output_text", text, annotations: [], logprobs: [] }] : [];
  return { id: `msg_${turn}`, type: "message", status, role: "assistant", content };
}

function callItems(a: ChatAnswer) {
  return (a.toolCalls ?? []).map((t) => ({
    id: `fc_${t.id}`,
    type: "function_call",
    status: "completed",
    call_id: t.id,
    name: t.name,
    arguments: toArguments(t.input),
  }));
}

function toOutput(a: ChatAnswer, text: string): object[] {
  const calls = callItems(a);
  return [...(text || !calls.length ? [messageItem(a.turn, text)] : []), ...calls];
}

function frame(body: Request, turn: string, status: string, more: object = {}) {
  return {
    id: `resp_${turn}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    metadata: body.metadata ?? {},
    model: body.model,
    output: [] as object[],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: body.reasoning ?? { effort: null, summary: null },
    temperature: body.temperature ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    text: body.text ?? { format: { type: "text" } },
    tool_choice: body.tool_choice ?? "auto",
    tools: body.tools ?? [],
    top_p: body.top_p ?? null,
    usage: null as object | null,
    ...more,
  };
}

type How = Parameters<typeof besides>[1];

function whole(body: Request, a: ChatAnswer, text: string) {
  const u = a.usage ?? { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const input = u.inputTokens + u.cacheReadTokens + u.cacheWriteTokens;
  return frame(body, a.turn, a.cut ? "incomplete" : "completed", {
    ...(a.cut ? { incomplete_details: { reason: "max_output_tokens" } } : {}),
    model: answeringModel(a, body.model),
    output: toOutput(a, text),
    lares: toFacts(a),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: u.cacheReadTokens },
      output_tokens: u.outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + u.outputTokens,
    },
  });
}

async function stream(
  c: Context<HttpEnv>,
  parts: GatewayParts,
  body: Request,
  params: Params<"chat.send">,
  how: How,
): Promise<Response> {
  const { turn: following, head, abort } = await followed(c, parts, params);
  if (hasFailed(head)) return turnFailed(c, head, FORMAT);
  return streamSSE(c, async (sse) => {
    sse.onAbort(abort);
    let n = 0;
    const write = (type: string, more: object) =>
      sse.writeSSE({ event: type, data: JSON.stringify({ type, sequence_number: n++, ...more }) });
    const { turn } = head;
    let text = "";
    const at = () => ({ item_id: `msg_${turn}`, output_index: 0, content_index: 0 });
    /** The message opens with its first words: an answer that is only calls has none. */
    const say = async (delta: string) => {
      if (!text) {
        await write("response.output_item.added", { output_index: 0, item: messageItem(turn, "", "in_progress") });
        await write("response.content_part.added", {
          ...at(),
          part: { type: "output_text", text: "", annotations: [] },
        });
      }
      text += delta;
      await write("response.output_text.delta", { ...at(), delta, logprobs: [] });
    };
    try {
      const model = answeringModel(await following.begun(), body.model);
      await write("response.created", { response: frame(body, turn, "in_progress", { model }) });
      await write("response.in_progress", { response: frame(body, turn, "in_progress", { model }) });
      const speak = queued(say);
      const { piece, end } = sayChecked(how.settings.format, speak);
      const answer = await following.to(piece);
      const failed = hasFailed(answer) ? failedShape(answer, FORMAT).message : await end(answer);
      if (failed !== undefined) {
        const error = { code: "server_error", message: failed };
        return void (await write("response.failed", {
          response: frame(body, turn, "failed", { model, error, lares: toFacts(answer) }),
        }));
      }
      const more = besides(answer, how);
      if (more) await speak(more);
      if (text) {
        const part = { type: "output_text", text, annotations: [] };
        await write("response.output_text.done", { ...at(), text, logprobs: [] });
        await write("response.content_part.done", { ...at(), part });
        await write("response.output_item.done", { output_index: 0, item: messageItem(turn, text) });
      }
      for (const [i, item] of callItems(answer).entries()) {
        const index = { item_id: item.id, output_index: (text ? 1 : 0) + i };
        await write("response.output_item.added", {
          ...index,
          item: { ...item, arguments: "", status: "in_progress" },
        });
        await write("response.function_call_arguments.delta", { ...index, delta: item.arguments });
        await write("response.function_call_arguments.done", { ...index, name: item.name, arguments: item.arguments });
        await write("response.output_item.done", { ...index, item });
      }
      await write(answer.cut ? "response.incomplete" : "response.completed", { response: whole(body, answer, text) });
    } catch (error) {
      const { message, code } = openaiShape(publicShape(toErrorShape(error), parts.redact));
      await write("error", { code, message, param: null });
    }
  });
}

/** One after another, also when pieces come faster than they are written. */
function queued(say: (piece: string) => Promise<void>): (piece: string) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (piece) => {
    last = last.then(() => say(piece));
    return last;
  };
}
