/** Our writers against the libraries: the same request must come out, byte for byte (WRITE-1). */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelRequest, ThinkingLevel } from "../../../../core/contracts/index.ts";
import type { JsonObject, ModelMessage } from "../../../../core/domain/index.ts";
import { DEFAULT_MODEL, findFacts, KNOWN_MODELS } from "../../catalogue.ts";
import type { Provider } from "../../providers.ts";
import { EXEC, request, user } from "../../testing.ts";
import { requestOptions } from "../attempt.ts";
import { Converter } from "../convert.ts";
import { makeSdkModel, write } from "../sdk.ts";
import { writeRequest } from "./index.ts";

const credential = { name: "k", key: "secret" };
const PICTURE = { type: "image", attachment: "a", name: "cat.png", mediaType: "image/png" } as const;

function providerOf(api: Provider["api"], official = false): Provider {
  const name = api === "anthropic" ? "anthropic" : "local";
  return { name, api, baseUrl: "https://example.com/v1", official, credentials: [], models: {}, because: "" };
}

/** What the library and we make of one request. */
async function both(provider: Provider, modelId: string, asked: ModelRequest) {
  const options = await requestOptions(asked, {
    converter: new Converter(provider.api, `${provider.name}/${modelId}`),
    provider,
    modelId,
    facts: findFacts(modelId),
    maxOutputTokens: 8192,
    loadAttachment: async () => ({ bytes: new Uint8Array([1, 2, 3, 250]), mediaType: "image/png" }),
  });
  const ours = writeRequest({ provider, credential, modelId, options });
  const theirs = await write(await makeSdkModel(provider, credential, modelId), options);
  return { ours, theirs };
}

async function expectSame(provider: Provider, modelId: string, asked: ModelRequest): Promise<void> {
  const { ours, theirs } = await both(provider, modelId, asked);
  if (!ours) throw new Error("left to the library");
  expect(JSON.parse(ours.body)).toEqual(JSON.parse(theirs.body));
  expect(ours.body).toBe(theirs.body);
  expect(ours.url).toBe(theirs.url);
  const { "user-agent": _ours, ...headers } = ours.headers;
  const { "user-agent": _theirs, ...wanted } = theirs.headers;
  expect(headers).toEqual(wanted);
}

const MODELS: Record<"anthropic" | "openai-chat", readonly string[]> = {
  anthropic: [
    ...new Set([DEFAULT_MODEL.anthropic!, ...KNOWN_MODELS.anthropic!]),
    ...["claude-opus-5", "claude-sonnet-5", "claude-fable-5", "claude-fable-5-1", "claude-opus-4-8", "claude-opus-4-7"],
    ...["claude-sonnet-4-6", "claude-opus-4-6", "claude-opus-4-5", "claude-sonnet-4-5", "claude-opus-4-1"],
    ...["claude-sonnet-4-20250514", "claude-opus-4-20250514", "claude-3-haiku-20240307", "claude-3-5-sonnet-latest"],
    ...["claude-2.1", "claude-instant-1", "claude-next-9", "MiniMax-M2", "anthropic/claude-sonnet-5-5"],
  ],
  "openai-chat": ["local", "openai/gpt-5", "google/gemini-3-pro"],
};

const APIS = ["anthropic", "openai-chat"] as const;
const LEVELS: readonly (ThinkingLevel | undefined)[] = [undefined, "off", "low", "medium", "high"];

describe.each(APIS)("%s", (api) => {
  const meta = (model: string, more: JsonObject) => ({ model: `${providerOf(api).name}/${model}`, ...more });

  /** A conversation with everything that occurs in one. */
  function history(model: string): ModelMessage[] {
    return [
      user("look at this"),
      { role: "user", content: [{ type: "text", text: "and that" }, PICTURE] },
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "hm", meta: meta(model, { anthropic: { signature: "sig" } }) },
          { type: "thinking", text: "", meta: meta(model, { anthropic: { redactedData: "secret" } }) },
          { type: "thinking", text: "another model's", meta: { model: "x/y", anthropic: { signature: "no" } } },
          { type: "text", text: "I'll look.\n" },
          { type: "tool-call", id: "call 1", name: "exec", input: { command: "ls" } },
          { type: "text", text: "And again." },
          { type: "thinking", text: "", meta: meta(model, { for: "c2", compatible: { thoughtSignature: "ts" } }) },
          { type: "tool-call", id: "c2", name: "exec", input: {} },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", id: "call 1", name: "exec", text: "a\nb" },
          { type: "tool-result", id: "c2", name: "exec", text: "failed", isError: true, images: [PICTURE] },
        ],
      },
      user("go on"),
      { role: "assistant", content: [{ type: "text", text: " Done. " }] },
      user("[12:00] thanks"),
    ];
  }

  it.each(MODELS[api])("a whole conversation with %s, at every level of thinking", async (model) => {
    for (const official of [true, false]) {
      for (const thinking of LEVELS) {
        const asked = request({
          messages: history(model),
          notes: "remembered",
          shared: 5,
          ...(thinking ? { thinking } : {}),
        });
        await expectSame(providerOf(api, official), model, asked);
      }
    }
  });

  it.each(MODELS[api])("every setting a caller can have, with %s", async (model) => {
    const settings: readonly ModelRequest["settings"][] = [
      { temperature: 0.3 },
      { temperature: 2, topP: 0.5 },
      { temperature: -1 },
      { topP: 0.9, presencePenalty: 1, frequencyPenalty: 0.5, seed: 7, stop: ["END", "\n\n"] },
      { maxOutputTokens: 12 },
      { format: {} },
      { toolChoice: "none" },
      { toolChoice: "required" },
      { toolChoice: { tool: "exec" } },
      { toolChoice: { tool: "unknown" } },
      { parallelToolCalls: false },
      { parallelToolCalls: false, toolChoice: "none" },
      { parallelToolCalls: false, toolChoice: "required" },
      { parallelToolCalls: false, toolChoice: { tool: "exec" } },
    ];
    for (const one of settings) {
      for (const thinking of LEVELS) {
        const asked = request({
          settings: one!,
          ...(thinking ? { thinking } : {}),
          tools: [EXEC, { ...EXEC, name: "read" }],
        });
        await expectSame(providerOf(api), model, asked);
      }
    }
  });

  it("with no tools, no instructions, or neither", async () => {
    const model = MODELS[api][0]!;
    await expectSame(providerOf(api), model, request({ tools: [] }));
    await expectSame(providerOf(api), model, request({ system: "" }));
    await expectSame(providerOf(api), model, request({ system: "", tools: [], messages: [user("")] }));
    await expectSame(providerOf(api), model, request({ maxOutputTokens: 1_000_000, room: 900_000 }));
  });

  it("any order of messages", async () => {
    const text = fc.oneof(fc.constant("a"), fc.string(), fc.constant(" b \n"), fc.constant("[09:00] x"));
    const call = fc.record({
      type: fc.constant("tool-call" as const),
      id: fc.constantFrom("c1", "c 2"),
      name: fc.constant("exec"),
      input: fc.oneof(fc.constant({}), fc.constant("not an object"), fc.constant('{"a":1}'), fc.constant({ a: [1] })),
    });
    const said = fc.record({ type: fc.constant("text" as const), text });
    const thought = fc.record({
      type: fc.constant("thinking" as const),
      text,
      meta: fc.constantFrom(meta("m", { anthropic: { signature: "s" } }), meta("m", {}), meta("m", { for: "c1" })),
    });
    const message = fc.oneof(
      fc.record({ role: fc.constant("user" as const), content: fc.array(said, { maxLength: 3 }) }),
      fc.record({
        role: fc.constant("assistant" as const),
        content: fc.array(fc.oneof(said, call, thought), { maxLength: 4 }),
      }),
      fc.record({
        role: fc.constant("tool" as const),
        content: fc.array(
          fc.record({
            type: fc.constant("tool-result" as const),
            id: fc.constant("c1"),
            name: fc.constant("exec"),
            text,
            isError: fc.boolean(),
          }),
          { minLength: 1, maxLength: 2 },
        ),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 8 }), fc.boolean(), async (messages, hasNotes) => {
        const asked = request({ messages: messages as ModelMessage[], ...(hasNotes ? { notes: "n" } : {}) });
        await expectSame(providerOf(api), "m", asked);
      }),
      { numRuns: 200 },
    );
  });
});

it("leaves schemas for Anthropic, and whole protocols without a writer, to the library", async () => {
  const asked = request({ settings: { format: { schema: { type: "object" } } } });
  expect((await both(providerOf("anthropic"), "claude-haiku-4-5", asked)).ours).toBeUndefined();
  for (const api of ["google", "openai-responses"] as const)
    expect((await both(providerOf(api), "m", request())).ours).toBeUndefined();
});
