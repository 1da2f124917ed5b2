/** The readers against the libraries' own: the same stream must make the same answer, whole and in pieces of any size. */

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { describe, expect, it } from "vitest";
import { pretend } from "../../../../../test/support/pretend.ts";
import type { ModelDelta } from "../../../../core/contracts/index.ts";
import { assertNever, type JsonObject } from "../../../../core/domain/index.ts";
import type { Api } from "../../providers.ts";
import { Answer, type CollectedReply, type Meta, type Reason } from "../answer.ts";
import type { TokenCounts } from "../reported.ts";
import { COMPATIBLE, type SdkModel } from "../sdk.ts";
import { readEvents } from "../stream.ts";
import { makeReader } from "./index.ts";
import { type Recorded, STREAMS } from "./testing.ts";

type Read = CollectedReply & { tokens: TokenCounts | undefined; said: string };

const wire = (events: readonly unknown[]) =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");

/** `size`: bytes per piece. */
async function ours({ api, events, jsonTool }: Recorded, size: number): Promise<Read> {
  const deltas: ModelDelta[] = [];
  const answer = new Answer({ model: "p/m", onDelta: (delta) => deltas.push(delta) });
  const reader = makeReader(api, answer, { jsonTool: jsonTool ?? false });
  const bytes = Buffer.from(wire(events));
  let tokens: TokenCounts | undefined;
  const read = async (onPiece: (piece: Buffer) => void) => {
    for (let at = 0; at < bytes.length; at += size) onPiece(bytes.subarray(at, at + size));
  };
  await readEvents({ status: 200, headers: {}, read, beginning: async () => "" }, reader, {
    onEvent: () => {},
    onUsage: (all) => {
      tokens = all;
    },
  });
  reader.end();
  const said = deltas.map((delta) => (delta.type === "text" ? delta.text : "")).join("");
  return { ...answer.settle(), tokens, said };
}

function library(api: Api, events: readonly unknown[]): SdkModel {
  const fetch = async () => new Response(wire(events), { headers: { "content-type": "text/event-stream" } });
  const settings = { apiKey: "k", baseURL: "http://127.0.0.1:9", fetch };
  switch (api) {
    case "anthropic":
      return createAnthropic(settings).languageModel("claude-haiku-4-5");
    case "google":
      return createGoogleGenerativeAI(settings).languageModel("gemini-3-pro-preview");
    case "openai-responses":
      return createOpenAI(settings).responses("gpt-5");
    case "openai-chat":
      return createOpenAICompatible({ ...settings, name: COMPATIBLE, includeUsage: true }).chatModel("local");
    default:
      return assertNever(api);
  }
}

const REASONS: Record<string, Reason> = { stop: "stop", length: "length", "content-filter": "refusal" };

async function theirs({ api, events }: Recorded): Promise<Read> {
  const deltas: ModelDelta[] = [];
  const answer = new Answer({ model: "p/m", onDelta: (delta) => deltas.push(delta) });
  const { stream } = await library(api, events).doStream({
    prompt: [{ role: "user", content: [{ type: "text", text: "u" }] }],
    tools: [{ type: "function", name: "exec", inputSchema: { type: "object" } }],
    providerOptions: { openai: { store: false } },
  });
  let tokens: TokenCounts | undefined;
  for await (const part of stream) {
    const meta = "providerMetadata" in part ? pretend<Meta>(part.providerMetadata) : undefined;
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        answer.begin(part.type === "text-start" ? "text" : "thinking", part.id, meta);
        break;
      case "text-delta":
      case "reasoning-delta":
        answer.say(part.type === "text-delta" ? "text" : "thinking", part.id, part.delta, meta);
        break;
      case "text-end":
      case "reasoning-end":
        answer.end(part.type === "text-end" ? "text" : "thinking", part.id, meta);
        break;
      case "tool-call":
        answer.call({ id: part.toolCallId, name: part.toolName, input: part.input, meta });
        break;
      case "finish":
        answer.finish(REASONS[part.finishReason.unified] ?? "other");
        tokens = {
          inputTokens: part.usage.inputTokens.noCache ?? 0,
          outputTokens: part.usage.outputTokens.total ?? 0,
          cacheReadTokens: part.usage.inputTokens.cacheRead ?? 0,
          cacheWriteTokens: part.usage.inputTokens.cacheWrite ?? 0,
        };
        break;
      case "error":
        throw part.error;
      default:
        break;
    }
  }
  const said = deltas.map((delta) => (delta.type === "text" ? delta.text : "")).join("");
  return { ...answer.settle(), tokens, said };
}

/** Ids that one side has to make up differ by nature. */
function withoutMadeUpIds(read: Read): Read {
  const content = read.content.map((part) => {
    if (part.type === "tool-call") return { ...part, id: part.id.startsWith("given") ? part.id : "made up" };
    const { for: of, ...meta } = ("meta" in part ? part.meta : {}) as JsonObject;
    if (part.type !== "thinking" || of === undefined) return part;
    return { ...part, meta: { ...meta, for: String(of).startsWith("given") || of === "text" ? of : "made up" } };
  });
  return { ...read, content };
}

describe.each(STREAMS)("$api: $name", (recorded) => {
  it("reads what the library reads", async () => {
    expect(withoutMadeUpIds(await ours(recorded, 1 << 20))).toEqual(withoutMadeUpIds(await theirs(recorded)));
  });

  it("reads the same in pieces, cut anywhere", async () => {
    const whole = withoutMadeUpIds(await ours(recorded, 1 << 20));
    for (const size of [1, 7, 100]) expect(withoutMadeUpIds(await ours(recorded, size))).toEqual(whole);
  });
});

const CHAT_END = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };

describe("what the library does not read, or not so well", () => {
  const read = (api: Api, events: readonly unknown[], jsonTool?: true) =>
    ours({ name: "", api, events, ...(jsonTool ? { jsonTool } : {}) }, 1 << 20);

  it("passes over events and blocks it does not know (READ-1)", async () => {
    const { content } = await read("anthropic", [
      { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: "news_from_the_future", index: 0 },
      { type: "content_block_start", index: 0, content_block: { type: "hologram" } },
      { type: "content_block_delta", index: 0, delta: { type: "hologram_delta", light: 1 } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "hello" } },
      { type: "content_block_stop", index: 1 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
      { type: "message_stop" },
    ]);
    expect(content).toEqual([{ type: "text", text: "hello" }]);
  });

  it.each(["anthropic", "openai-chat", "openai-responses", "google"] as Api[])(
    "%s: a stream that ends without a reason is no answer (READ-2)",
    async (api) => {
      await expect(read(api, [{ type: "ping" }])).rejects.toThrow("the answer ended early");
    },
  );

  it("what is not JSON ends the answer", async () => {
    await expect(read("google", ["{not json"])).rejects.toThrow("not valid JSON");
  });

  it("a JSON tool's input is the answer, and the words beside it are not", async () => {
    const { content, finish } = await read(
      "anthropic",
      [
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Here you are:" } },
        { type: "content_block_stop", index: 0 },
        {
          type: "content_block_start",
          index: 1,
          content_block: { type: "tool_use", id: "t", name: "json", input: {} },
        },
        { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"a"' } },
        { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: ":1}" } },
        { type: "content_block_stop", index: 1 },
        { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } },
        { type: "message_stop" },
      ],
      true,
    );
    expect({ content, finish }).toEqual({ content: [{ type: "text", text: '{"a":1}' }], finish: "stop" });
  });

  it("calls that OpenAI's models wrap into one are taken apart", async () => {
    const uses = [
      { recipient_name: "functions.exec", parameters: { command: "ls" } },
      { recipient_name: "functions.exec", parameters: { command: "pwd" } },
    ];
    const wrapped = JSON.stringify({ tool_uses: uses });
    const item = { type: "function_call", id: "i", call_id: "c", name: "multi_tool_use.parallel", arguments: wrapped };
    const { content } = await read("openai-responses", [
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 1 } } },
    ]);
    expect(content).toEqual([
      { type: "tool-call", id: "c_0", name: "exec", input: { command: "ls" } },
      { type: "tool-call", id: "c_1", name: "exec", input: { command: "pwd" } },
    ]);
  });

  it("a tool call without a name is a fault of the answer", async () => {
    const delta = { tool_calls: [{ index: 0, id: "c", function: { arguments: "{}" } }] };
    const events = [{ choices: [{ index: 0, delta }] }, CHAT_END];
    await expect(read("openai-chat", events)).rejects.toThrow("without a name");
  });
});
