/** What the tests of this room share: models over the scripted server, and one user message. */
import type { ModelDelta, ModelReply, ModelRequest, Models } from "../../core/contracts/index.ts";
import type { ModelMessage } from "../../core/domain/index.ts";
import { type Clock, type Log, silentLog, systemClock } from "../../core/kit/index.ts";
import { createModels, modelsConfig } from "./index.ts";

export interface TestSetup {
  config?: Record<string, unknown>;
  env?: Record<string, string>;
  clock?: Clock;
  log?: Log;
}

export function testModels({ config = {}, env = {}, clock = systemClock, log = silentLog }: TestSetup): Models {
  return createModels(modelsConfig.parse(config), { env, clock, log });
}

/** Each wire protocol with a model that speaks it. */
export const PROTOCOLS = [
  { api: "anthropic", model: "claude-sonnet-4-5" },
  { api: "openai-chat", model: "local" },
  { api: "openai-responses", model: "gpt-5" },
  { api: "google", model: "gemini-3-pro-preview" },
] as const;

export const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] });

export const EXEC = {
  name: "exec",
  description: "Runs a command.",
  input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
};

export function request(over: Partial<ModelRequest> = {}): ModelRequest {
  return { system: "You are a test.", tools: [EXEC], messages: [user("hello")], cacheKey: "session-1", ...over };
}

export interface Outcome {
  reply: ModelReply;
  deltas: ModelDelta[];
}

export async function run(
  models: Models,
  over: Partial<ModelRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Outcome> {
  const deltas: ModelDelta[] = [];
  const reply = await models.call(request(over), (delta) => deltas.push(delta), signal);
  return { reply, deltas };
}

/** The answer of a call that must have been answered. */
export function answered(reply: ModelReply): Extract<ModelReply, { ok: true }> {
  if (!reply.ok) throw new Error(`expected an answer, got ${reply.failure}: ${reply.message}`);
  return reply;
}

export function refused(reply: ModelReply): Extract<ModelReply, { ok: false }> {
  if (reply.ok) throw new Error(`expected a failure, got ${JSON.stringify(reply.content)}`);
  return reply;
}

/** What a person would have seen: text since the last discard. */
export function shown(deltas: readonly ModelDelta[]): string {
  const from = deltas.findLastIndex((delta) => delta.type === "discard") + 1;
  return deltas
    .slice(from)
    .map((delta) => (delta.type === "text" ? delta.text : ""))
    .join("");
}
