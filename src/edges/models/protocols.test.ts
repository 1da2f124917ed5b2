/** One suite over the four wire protocols, against the scripted model server over real HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  directiveScript,
  type ModelServer,
  type NormalPart,
  startModelServer,
} from "../../../test/fakes/model-server/index.ts";
import type { Models } from "../../core/contracts/index.ts";
import type { ModelMessage } from "../../core/domain/index.ts";
import { ManualClock, silentLog } from "../../core/kit/index.ts";
import { answered, EXEC, PROTOCOLS, refused, request, run, shown, testModels, user } from "./testing.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.reset();
  server.use(directiveScript());
});

type Protocol = (typeof PROTOCOLS)[number];

const PRICE = { input: 10, output: 20, cacheRead: 1, cacheWrite: 15 };

function setup({ api, model }: Protocol, more: Record<string, unknown> = {}, clock?: ManualClock): Models {
  const provider = { api, baseUrl: server.url, keys: ["key-number-one"], models: { [model]: { price: PRICE } } };
  return testModels({
    config: { default: `p/${model}`, providers: { p: provider }, patienceMs: 5_000, ...more },
    ...(clock ? { clock } : {}),
  });
}

const lastParts = (): NormalPart[] => server.requests.at(-1)!.messages.flatMap((message) => message.parts);

describe.each(PROTOCOLS)("$api", (protocol) => {
  it("streams the text in pieces and returns the same text", async () => {
    const { reply, deltas } = await run(setup(protocol), { messages: [user("say:Hello dear reader")] });
    const ok = answered(reply);
    expect(ok.content).toEqual([{ type: "text", text: "Hello dear reader" }]);
    expect(ok).toMatchObject({ model: `p/${protocol.model}`, practice: false, finish: "stop", notice: null });
    expect(deltas.length).toBeGreaterThan(1);
    expect(shown(deltas)).toBe("Hello dear reader");
    expect(server.requests[0]).toMatchObject({ protocol: protocol.api, stream: true, system: "You are a test." });
  });

  it("returns parallel tool calls with their inputs, in order", async () => {
    const text = 'tool:exec {"command":"ls"} tool:exec {"command":"pwd"}';
    const ok = answered((await run(setup(protocol), { messages: [user(text)] })).reply);
    const calls = ok.content.filter((part) => part.type === "tool-call");
    expect(calls.map((call) => [call.name, call.input])).toEqual([
      ["exec", { command: "ls" }],
      ["exec", { command: "pwd" }],
    ]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    expect(ok.finish).toBe("tool-calls");
    expect(server.requests[0]?.tools).toEqual(["exec"]);
  });

  it("sends tool results back to the calls they answer", async () => {
    const models = setup(protocol);
    const first = user('tool:exec {"command":"ls"} tool:exec {"command":"pwd"} then: say:got {results}');
    const ok = answered((await run(models, { messages: [first] })).reply);
    const calls = ok.content.filter((part) => part.type === "tool-call");
    const results: ModelMessage = {
      role: "tool",
      content: calls.map((call, i) => ({
        type: "tool-result",
        id: call.id,
        name: call.name,
        text: `result ${i}`,
        ...(i === 1 ? { isError: true } : {}),
      })),
    };
    const messages: ModelMessage[] = [first, { role: "assistant", content: ok.content }, results];
    const second = answered((await run(models, { messages })).reply);
    expect(second.content).toEqual([{ type: "text", text: "got result 0 | result 1" }]);
    const sentCalls = lastParts().filter((part) => part.type === "tool-call");
    const sentResults = lastParts().filter((part) => part.type === "tool-result");
    expect(sentCalls.map((part) => part.input)).toEqual([{ command: "ls" }, { command: "pwd" }]);
    // Google may leave the ids out; everyone else must pair them.
    if (protocol.api !== "google") {
      expect(sentResults.map((part) => part.id)).toEqual(sentCalls.map((part) => part.id));
    }
    expect(sentResults.map((part) => part.text)).toEqual(["result 0", "result 1"]);
  });

  it("gives thinking and its signature back byte for byte (WIRE-1, WIRE-2)", async () => {
    server.use(() => ({
      thinking: { text: "let me see", signature: "SIG+/=é\\n-1" },
      toolCalls: [{ name: "exec", input: { command: "ls" } }],
    }));
    const models = setup(protocol);
    const first = user("go");
    const { reply, deltas } = await run(models, { messages: [first], thinking: "low" });
    const ok = answered(reply);
    expect(
      deltas
        .filter((d) => d.type === "thinking")
        .map((d) => d.text)
        .join(""),
    ).toBe("let me see");
    const thinking = ok.content.find((part) => part.type === "thinking");
    expect(thinking?.text).toBe("let me see");
    const call = ok.content.find((part) => part.type === "tool-call")!;
    // The history goes through the database in between.
    const stored = JSON.parse(JSON.stringify(ok.content)) as typeof ok.content;
    const messages: ModelMessage[] = [
      first,
      { role: "assistant", content: stored },
      { role: "tool", content: [{ type: "tool-result", id: call.id, name: "exec", text: "x" }] },
    ];
    await run(models, { messages, thinking: "low" });
    const sent = lastParts();
    expect(sent.find((part) => part.type === "thinking")?.text).toBe("let me see");
    if (protocol.api !== "openai-chat") {
      const signed = sent.find((part) => "signature" in part && part.signature);
      expect(signed).toMatchObject({ signature: "SIG+/=é\\n-1" });
      // Google signs the call, the others the thinking.
      expect(signed?.type).toBe(protocol.api === "google" ? "tool-call" : "thinking");
    }
    // Another model never sees it.
    await run(setup(protocol, { default: "p/other-model" }), { messages });
    expect(lastParts().some((part) => part.type === "thinking")).toBe(false);
    expect(JSON.stringify(server.requests.at(-1)?.body)).not.toContain("SIG+");
  });

  it("reports usage with cache figures, and the cost by the configured price", async () => {
    server.use(() => ({ text: "hi", usage: { input: 1000, output: 500, cacheRead: 200, cacheWrite: 0 } }));
    const ok = answered((await run(setup(protocol))).reply);
    expect(ok.usage).toMatchObject({ inputTokens: 1000, outputTokens: 500, cacheReadTokens: 200, cacheWriteTokens: 0 });
    expect(ok.usage.cost).toBeCloseTo((1000 * 10 + 500 * 20 + 200 * 1) / 1e6, 10);
  });

  it("throws an AbortError when the signal aborts, and closes the connection (MODEL-2, WIRE-5, WIRE-6)", async () => {
    const abort = new AbortController();
    const deltas: string[] = [];
    const running = setup(protocol).call(
      request({ messages: [user("stall say:never done")] }),
      (delta) => deltas.push(delta.type),
      abort.signal,
    );
    await until(() => deltas.length > 0);
    abort.abort();
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
    // Nobody failed: nothing is discarded, nobody is asked instead.
    expect(deltas).not.toContain("discard");
    expect(server.requests).toHaveLength(1);
    await until(() => server.requests[0]!.aborted);
  });

  it("gives up a silent stream after the idle timeout, as class timeout, and discards what it showed", async () => {
    const clock = new ManualClock();
    const models = setup(protocol, { idleTimeoutMs: 7_000, patienceMs: 0 }, clock);
    const deltas: string[] = [];
    const running = models.call(
      { system: "s", tools: [], messages: [user("stall say:half of an answer")], cacheKey: "k" },
      (delta) => deltas.push(delta.type),
      new AbortController().signal,
    );
    await until(() => deltas.length > 0);
    clock.advance(6_999);
    clock.advance(1);
    const failed = refused(await running);
    expect(failed.failure).toBe("timeout");
    expect(failed.message).toContain("silent for 7 s in the middle of its answer: models.idleTimeoutMs");
    expect(deltas.at(-1)).toBe("discard");
  });

  it("gives up a model that does not begin, after the first-byte timeout", async () => {
    const clock = new ManualClock();
    const models = setup(protocol, { firstByteTimeoutMs: 3_000, patienceMs: 0 }, clock);
    const running = run(models, { messages: [user("delay:60000 say:late")] });
    await until(() => server.requests.length === 1);
    clock.advance(3_000);
    const failed = refused((await running).reply);
    expect(failed.failure).toBe("timeout");
    expect(failed.message).toContain("silent for 3 s before its first word: models.firstByteTimeoutMs");
  });

  it("discards a stream that is cut in the middle, tries again, and answers once (CHAIN-7, CHAIN-8)", async () => {
    const { reply, deltas } = await run(setup(protocol), { messages: [user("cut*1 say:the whole answer")] });
    expect(answered(reply).content).toEqual([{ type: "text", text: "the whole answer" }]);
    expect(deltas.filter((delta) => delta.type === "discard")).toHaveLength(1);
    expect(deltas.slice(0, 2).map((delta) => delta.type)).toEqual(["answering", "text"]);
    expect(shown(deltas)).toBe("the whole answer");
    expect(server.requests).toHaveLength(2);
  });

  it("does not take half an answer for a whole one when the stream ends politely", async () => {
    let asked = 0;
    server.use(() => ({ text: "the whole answer", pieces: 8, ...(++asked === 1 ? { cut: "clean" as const } : {}) }));
    const { reply, deltas } = await run(setup(protocol));
    expect(answered(reply).content).toEqual([{ type: "text", text: "the whole answer" }]);
    expect(deltas.filter((delta) => delta.type === "discard")).toHaveLength(1);
    expect(shown(deltas)).toBe("the whole answer");
  });

  it("takes an error event in the middle of a stream for what it says", async () => {
    let asked = 0;
    server.use(() =>
      ++asked === 1 ? { text: "half", fail: { kind: "overload", midStream: true } } : { text: "whole" },
    );
    const warned: unknown[] = [];
    const models = testModels({
      config: { default: `p/${protocol.model}`, providers: { p: { api: protocol.api, baseUrl: server.url } } },
      log: { ...silentLog, warn: (_what, facts) => warned.push(facts) },
    });
    const { reply, deltas } = await run(models);
    expect(answered(reply).content).toEqual([{ type: "text", text: "whole" }]);
    expect(warned).toMatchObject([{ failure: "overload" }]);
    expect(shown(deltas)).toBe("whole");
  });

  it("returns a tool input that is no JSON with what is wrong with it, and can send it back", async () => {
    const models = setup(protocol);
    const first = user("garbage tool:exec {} then: say:sorry");
    const ok = answered((await run(models, { messages: [first] })).reply);
    const call = ok.content.find((part) => part.type === "tool-call")!;
    expect(call).toMatchObject({
      name: "exec",
      input: { unreadable: '{"command": "ls', problem: expect.stringContaining("not valid JSON: ") },
    });
    const messages: ModelMessage[] = [
      first,
      { role: "assistant", content: ok.content },
      { role: "tool", content: [{ type: "tool-result", id: call.id, name: "exec", text: "no JSON", isError: true }] },
    ];
    expect(answered((await run(models, { messages })).reply).content).toEqual([{ type: "text", text: "sorry" }]);
  });

  it("shows the model its own unreadable call as an empty object, which every provider takes", async () => {
    const models = setup(protocol);
    const input = { unreadable: '{"command": "ls', problem: "not valid JSON" };
    const messages: ModelMessage[] = [
      user("look"),
      { role: "assistant", content: [{ type: "tool-call", id: "c1", name: "exec", input }] },
      { role: "tool", content: [{ type: "tool-result", id: "c1", name: "exec", text: "no JSON", isError: true }] },
    ];
    await run(models, { messages });
    const { messages: seen, raw } = server.requests.at(-1)!;
    const call = seen.flatMap((m) => m.parts).find((part) => "input" in part);
    expect(call).toMatchObject({ input: {} });
    expect(raw).not.toMatch(/unreadable|problem/);
  });

  it("gives an empty answer back when nobody else is left to ask: the same words again would help nobody", async () => {
    const reply = answered((await run(setup(protocol), { messages: [user("empty")] })).reply);
    expect(reply.content).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it("drops blanks that stand alone: providers refuse to read them back", async () => {
    const models = setup(protocol);
    server.use(() => ({ text: "\n\n", toolCalls: [{ id: "c1", name: "list", input: {} }] }));
    const { content } = answered((await run(models)).reply);
    expect(content.map(({ type }) => type)).toEqual(["tool-call"]);
    const messages: ModelMessage[] = [
      user("look"),
      { role: "assistant", content: [{ type: "text", text: " \n" }, ...content] },
      { role: "tool", content: [{ type: "tool-result", id: "c1", name: "list", text: "a", isError: false }] },
    ];
    await run(models, { messages });
    const texts = server.requests
      .at(-1)!
      .messages.flatMap((m) => m.parts)
      .map((part) => JSON.stringify(part));
    expect(texts.filter((text) => text.includes('" \\n"'))).toEqual([]);
  });

  it("says when the answer was cut by its limit", async () => {
    server.use(() => ({ text: "long", finish: "length" }));
    expect(answered((await run(setup(protocol))).reply).finish).toBe("length");
  });

  it.each([
    ["auth", "auth"],
    ["billing", "billing"],
    ["rate-limit", "rate-limit"],
    ["overload", "overload"],
    ["server", "server-error"],
    ["context-overflow", "context-overflow"],
    ["format", "format"],
    ["not-found", "not-found"],
  ])("knows the provider's way to say %s", async (kind, failure) => {
    const models = setup(protocol, { patienceMs: 0 });
    const failed = refused((await run(models, { messages: [user(`fail:${kind}`)] })).reply);
    expect(failed.failure).toBe(failure);
    expect(failed.message).toContain(`p/${protocol.model}`);
    expect(failed.message + failed.hint).not.toContain("key-number-one");
    expect(failed.message).not.toContain(server.url);
  });
});

describe("prompt cache", () => {
  it("marks instructions, the last request's end and the new end for Anthropic, and reads the cache the second time", async () => {
    const models = setup(PROTOCOLS[0]);
    const tools = [{ ...EXEC, name: "first" }, EXEC];
    // The same objects call after call, as the history hands them in: a mark must not stay on an old message.
    const one = user("one");
    const written = answered((await run(models, { tools, messages: [one] })).reply).usage;
    expect(written.cacheWriteTokens).toBeGreaterThan(0);
    const messages: ModelMessage[] = [one, { role: "assistant", content: [{ type: "text", text: "x" }] }, user("two")];
    const read = answered((await run(models, { tools, messages })).reply).usage;
    expect(read).toMatchObject({ cacheReadTokens: written.cacheWriteTokens, cacheWriteTokens: 0 });
    const body = server.requests[1]!.body as {
      system: { cache_control?: unknown }[];
      tools: { cache_control?: unknown }[];
      messages: { content: { cache_control?: unknown }[] }[];
    };
    expect(server.requests[1]!.cacheMarks).toBe(3);
    expect(body.system[0]?.cache_control).toEqual({ type: "ephemeral" });
    expect(body.tools.map((tool) => Boolean(tool.cache_control))).toEqual([false, false]);
    expect(body.messages.map((m) => Boolean(m.content.at(-1)?.cache_control))).toEqual([true, false, true]);
  });

  it("marks what all chats of an agent share, with four marks at most, and tells other providers in one piece (WIRE-3)", async () => {
    const models = setup(PROTOCOLS[0]);
    const system = "The rules of the house.\n\n# Place\n\nA chat.";
    const shared = "The rules of the house.".length;
    const messages: ModelMessage[] = [
      user("one"),
      { role: "assistant", content: [{ type: "text", text: "x" }] },
      user("two"),
    ];
    await run(models, { system, shared, messages });
    await run(models, { system, shared, messages, notes: "[Notes kept by Lares]" });
    const blocks = server.requests.map((r) => r.body.system as { text: string; cache_control?: unknown }[]);
    expect(blocks.map((all) => all.map(({ text }) => text))).toEqual(
      Array(2).fill(["The rules of the house.", "\n\n# Place\n\nA chat."]),
    );
    expect(blocks.map((all) => all.map((one) => Boolean(one.cache_control)))).toEqual([
      [true, true],
      [true, false],
    ]);
    expect(server.requests.map((r) => r.cacheMarks)).toEqual([4, 4]);
    for (const protocol of PROTOCOLS.slice(1)) {
      await run(setup(protocol), { system, shared, messages });
      expect(server.requests.at(-1)!.system).toBe(system);
    }
  });

  it("gives OpenAI the session as cache key, at most 64 signs long", async () => {
    const models = setup(PROTOCOLS[2]);
    await run(models, { cacheKey: "short" });
    await run(models, { cacheKey: "x".repeat(100) });
    await run(models, { cacheKey: "x".repeat(100) });
    const keys = server.requests.map((r) => r.body.prompt_cache_key as string);
    expect(keys[0]).toBe("short");
    expect(keys[1]).toHaveLength(64);
    expect(keys[2]).toBe(keys[1]);
    expect(server.requests[0]?.body.store).toBe(false);
  });
});

describe("what providers refuse", () => {
  it("ids of calls with signs Anthropic does not take are changed alike in call and result", async () => {
    const messages: ModelMessage[] = [
      user("a"),
      { role: "assistant", content: [{ type: "tool-call", id: "call:1/x", name: "exec", input: {} }] },
      { role: "tool", content: [{ type: "tool-result", id: "call:1/x", name: "exec", text: "r" }] },
    ];
    await run(setup(PROTOCOLS[0]), { messages });
    const ids = lastParts().flatMap((part) => ("id" in part ? [part.id] : []));
    expect(ids).toEqual(["call_1_x", "call_1_x"]);
  });

  it("messages without text are sent as something, answers without anything not at all", async () => {
    const messages: ModelMessage[] = [
      user("a"),
      { role: "assistant", content: [{ type: "thinking", text: "of another model" }] },
      user("   "),
    ];
    await run(setup(PROTOCOLS[0]), { messages });
    expect(server.requests[0]?.messages.map((m) => m.role)).toEqual(["user", "user"]);
    expect(lastParts().at(-1)).toMatchObject({ text: "(empty message)" });
  });

  it("tools are not strict for Responses: optional properties stay optional", async () => {
    await run(setup(PROTOCOLS[2]));
    expect(server.requests[0]?.body.tools).toMatchObject([{ name: "exec", strict: false }]);
  });

  it("an empty answer after tool results is an answer", async () => {
    const messages: ModelMessage[] = [
      user("empty"),
      { role: "assistant", content: [{ type: "tool-call", id: "1", name: "exec", input: {} }] },
      { role: "tool", content: [{ type: "tool-result", id: "1", name: "exec", text: "r" }] },
    ];
    server.use(() => ({ text: "" }));
    expect(answered((await run(setup(PROTOCOLS[0]), { messages })).reply).content).toEqual([]);
  });
});

describe("thinking", () => {
  it.each([
    ["anthropic", "claude-sonnet-4-5", "high", { thinking: { type: "enabled", budget_tokens: 24_576 } }],
    ["anthropic", "claude-opus-5", "medium", { thinking: { type: "adaptive" }, output_config: { effort: "medium" } }],
    ["openai-responses", "gpt-5", "low", { reasoning: { effort: "low", summary: "auto" } }],
    ["openai-chat", "local", "medium", { reasoning_effort: "medium" }],
    ["google", "gemini-3-pro-preview", "high", { generationConfig: { thinkingConfig: { thinkingLevel: "high" } } }],
    ["google", "gemini-2.5-flash", "off", { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }],
  ] as const)("asks %s/%s for level %s in its own words", async (api, model, thinking, wanted) => {
    const models = testModels({ config: { default: `p/${model}`, providers: { p: { api, baseUrl: server.url } } } });
    await run(models, { thinking });
    expect(server.requests[0]?.body).toMatchObject(wanted);
  });

  it("says nothing of thinking when the request does not", async () => {
    await run(setup(PROTOCOLS[0]));
    expect(server.requests[0]?.body).not.toHaveProperty("thinking");
    expect(server.requests[0]?.body.max_tokens).toBe(8192);
  });

  it("never asks for a longer answer than the model can give", async () => {
    const p = { api: "openai-chat", baseUrl: server.url, models: { small: { maxOutput: 1000 } } };
    await run(testModels({ config: { default: "p/small", providers: { p } } }), { maxOutputTokens: 50_000 });
    expect(server.requests[0]?.body.max_tokens).toBe(1000);
  });
});

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}
