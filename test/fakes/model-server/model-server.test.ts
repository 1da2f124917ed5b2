/** The stand-in must be right before anything is proved with it. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { directiveScript, type ModelServer, type NormalMessage, parseDirectives, startModelServer } from "./index.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.reset();
  server.use(directiveScript());
});

async function post(
  path: string,
  body: unknown,
): Promise<{ status: number; json: Record<string, unknown>; text: string }> {
  const response = await fetch(server.url + path, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, text, json: text.startsWith("{") ? JSON.parse(text) : {} };
}

const say = (...messages: (string | NormalMessage)[]) =>
  directiveScript()({
    protocol: "anthropic",
    model: "m",
    system: "",
    tools: [],
    stream: true,
    cacheMarks: 0,
    messages: messages.map((m) => (typeof m === "string" ? { role: "user", parts: [{ type: "text", text: m }] } : m)),
  });
const assistant = (text = "x"): NormalMessage => ({ role: "assistant", parts: [{ type: "text", text }] });
const result = (text: string): NormalMessage => ({ role: "tool", parts: [{ type: "tool-result", id: "1", text }] });

describe("directives", () => {
  it("plain text is echoed, with every user text after the last answer", () => {
    expect(say("hello")).toEqual({ text: "echo: hello" });
    expect(say("one", assistant(), "two", "three")).toEqual({ text: "echo: two | three" });
    expect(say("please cut the grass and stall")).toEqual({ text: "echo: please cut the grass and stall" });
    expect(say("one", assistant(), result("r"))).toEqual({ text: "echo: one" });
  });

  it("say, think, tool, delay", () => {
    expect(say("m-7 say: Hello there ")).toMatchObject({ text: "Hello there" });
    expect(say("think:hm say:x")).toMatchObject({ thinking: { text: "hm", signature: "sig-hm" }, text: "x" });
    expect(say('tool:exec {"command":"echo \\"}\\" say:no"} tool:list {"path":"."} delay:5')).toEqual({
      toolCalls: [
        { name: "exec", input: { command: 'echo "}" say:no' } },
        { name: "list", input: { path: "." } },
      ],
      delayMs: 5,
      text: undefined,
    });
  });

  it("phases answer one assistant message each, then the text is spent", () => {
    const script = 'tool:read {"path":"a"} then: tool:list {} then: say:done {results}';
    expect(say(script)).toMatchObject({ toolCalls: [{ name: "read" }] });
    expect(say(script, assistant(), result("r1"))).toMatchObject({ toolCalls: [{ name: "list" }] });
    expect(say(script, assistant(), result("r1"), assistant(), result("r2"))).toMatchObject({ text: "done r2" });
    expect(say(script, assistant(), assistant(), assistant(), "more")).toEqual({ text: "echo: more" });
  });

  it("the newest text with open phases leads; plain steering after it does not stop it", () => {
    const script = "tool:list {} then: say:saw {seen}";
    expect(say(script, assistant(), result("r"), "steer")).toMatchObject({ text: "saw steer" });
    expect(say(script, assistant(), result("r"), "say:other")).toMatchObject({ text: "other" });
  });

  it("fail, stall and cut last for n requests", () => {
    const script = directiveScript();
    const ask = (text: string) =>
      script({
        protocol: "google",
        model: "m",
        system: "",
        tools: [],
        stream: true,
        cacheMarks: 0,
        messages: [{ role: "user", parts: [{ type: "text", text }] }],
      });
    expect([1, 2, 3].map(() => "fail" in ask("fail:429*2 retry-after:3 say:ok"))).toEqual([true, true, false]);
    expect(ask("fail:429 retry-after:3")).toMatchObject({ fail: { status: 429, kind: "rate-limit", retryAfterS: 3 } });
    expect(ask("fail:overload")).toMatchObject({ fail: { kind: "overload" } });
    expect(ask("stall*1 say:x")).toMatchObject({ stall: true, text: "x" });
    expect(ask("stall*1 say:x")).toEqual({ text: "x" });
    expect(ask("cut")).toMatchObject({ cut: true });
    expect(ask("garbage tool:read {}")).toMatchObject({ toolCalls: [{ name: "read", raw: '{"command": "ls' }] });
    expect(ask("empty")).toMatchObject({ text: "" });
    expect(parseDirectives("nothing here")).toBeUndefined();
  });
});

describe("protocols without streaming", () => {
  it("Anthropic", async () => {
    const { json } = await post("/v1/messages", {
      model: "m",
      system: [{ type: "text", text: "sys", cache_control: { type: "ephemeral" } }],
      messages: [{ role: "user", content: 'think:hm say:hi tool:exec {"a":1}' }],
    });
    expect(json).toMatchObject({
      type: "message",
      stop_reason: "tool_use",
      content: [
        { type: "thinking", signature: "sig-hm" },
        { type: "text", text: "hi" },
        { type: "tool_use", input: { a: 1 } },
      ],
      usage: { cache_creation_input_tokens: 1, cache_read_input_tokens: 0 },
    });
    expect(server.requests[0]).toMatchObject({ protocol: "anthropic", system: "sys", stream: false, cacheMarks: 1 });
  });

  it("splits what Anthropic's protocol merges into one user message", async () => {
    await post("/v1/messages", {
      model: "m",
      messages: [
        { role: "user", content: [{ type: "text", text: "a" }] },
        { role: "assistant", content: [{ type: "tool_use", id: "1", name: "t", input: {} }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "1", content: "r" },
            { type: "text", text: "b" },
            { type: "text", text: "c" },
          ],
        },
      ],
    });
    expect(server.requests[0]?.messages.map((m) => m.role)).toEqual(["user", "assistant", "tool", "user", "user"]);
  });

  it("Chat Completions", async () => {
    const { json } = await post("/v1/chat/completions", {
      model: "m",
      messages: [
        { role: "system", content: "sys" },
        { role: "user", content: 'say:hi tool:exec {"a":1}' },
      ],
    });
    expect(json).toMatchObject({
      choices: [
        {
          finish_reason: "tool_calls",
          message: { content: "hi", tool_calls: [{ function: { arguments: '{"a":1}' } }] },
        },
      ],
    });
    expect(server.requests[0]).toMatchObject({ protocol: "openai-chat", system: "sys" });
  });

  it("Responses", async () => {
    const { json } = await post("/v1/responses", { model: "m", instructions: "sys", input: "say:hi" });
    expect(json).toMatchObject({ status: "completed", output: [{ type: "message", content: [{ text: "hi" }] }] });
    expect(server.requests[0]).toMatchObject({ protocol: "openai-responses", system: "sys" });
  });

  it("Google", async () => {
    const { json } = await post("/v1beta/models/gem:generateContent", {
      contents: [{ role: "user", parts: [{ text: "say:hi" }] }],
    });
    expect(json).toMatchObject({ candidates: [{ content: { parts: [{ text: "hi" }] }, finishReason: "STOP" }] });
    expect(server.requests[0]).toMatchObject({ protocol: "google", model: "gem", stream: false });
  });

  it("shapes failures as each provider does", async () => {
    const user = "fail:429";
    const anthropic = await post("/v1/messages", { messages: [{ role: "user", content: user }] });
    expect([anthropic.status, anthropic.json]).toMatchObject([
      429,
      { type: "error", error: { type: "rate_limit_error" } },
    ]);
    const openai = await post("/v1/responses", { input: user });
    expect([openai.status, openai.json]).toMatchObject([429, { error: { code: "rate_limit_exceeded" } }]);
    const google = await post("/v1beta/models/g:generateContent", {
      contents: [{ role: "user", parts: [{ text: user }] }],
    });
    expect([google.status, google.json]).toMatchObject([429, { error: { status: "RESOURCE_EXHAUSTED" } }]);
    expect((await post("/v2/other", {})).status).toBe(404);
  });
});

it("runs as a process of its own and logs one line per request", async () => {
  const dir = mkdtempSync(join(tmpdir(), "model-server-"));
  const log = join(dir, "log.jsonl");
  const child = spawn("npx", ["tsx", "test/fakes/model-server/main.ts", "--log", log, "--full"], { detached: true });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.on("data", (chunk: Buffer) => resolve(/http:\S+/.exec(String(chunk))?.[0] ?? ""));
      child.on("error", reject);
    });
    const messages = [
      { role: "user", content: "id:abc say:hi" },
      { role: "user", content: "#m2 plain" },
    ];
    await fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify({ model: "m", messages }) });
    const lines = readFileSync(log, "utf8").trim().split("\n");
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      protocol: "openai-chat",
      model: "m",
      messages: 2,
      lastUser: "#m2 plain",
      seen: ["id:abc say:hi", "#m2 plain"],
      ids: ["abc", "m2"],
      reply: "text",
      request: { messages: [{ role: "user" }, { role: "user" }] },
    });
  } finally {
    // The group: npx and tsx each start a child of their own.
    process.kill(-child.pid!, "SIGKILL");
    rmSync(dir, { recursive: true });
  }
});
