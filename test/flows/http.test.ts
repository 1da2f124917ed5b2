/** The doors: HTTP health, token, /chat, OpenAI-compatible, /rpc; and what they do with bad input. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ErrorBody, type Lares, startLares } from "../support/lares.ts";
import { requestsWith, startModel, userTexts } from "../support/model.ts";
import { until } from "../support/until.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({ env: model.env, config: { gateway: { http: { wait: 0.05 } } } });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});
beforeEach(() => model.reset());

describe("health and token", () => {
  it("health and readiness need no token", async () => {
    expect(await (await fetch(`${lares.url}/healthz`)).json()).toEqual({ ok: true });
    expect(await (await fetch(`${lares.url}/readyz`)).json()).toEqual({ ok: true });
  });

  it.each([
    ["POST", "/chat"],
    ["GET", "/v1/models"],
    ["POST", "/v1/chat/completions"],
    ["POST", "/rpc/status"],
    ["POST", "/rpc/sessions.list"],
  ])("%s %s without a token is refused", async (method, path) => {
    for (const authorization of ["", "Bearer wrong", "Basic abc"]) {
      const answer = await lares.request(method, path, {
        headers: { authorization },
        ...(method === "POST" ? { body: {} } : {}),
      });
      expect(answer.status).toBe(401);
      // OpenAI's clients know the case by OpenAI's own word for it.
      const code = path.startsWith("/v1") ? "invalid_api_key" : "UNAUTHORIZED";
      expect((answer.json.error as ErrorBody).code).toBe(code);
    }
  });

  it("without LARES_TOKEN a token is made at first start, readable by the owner only, and kept", async () => {
    const fresh = await startLares({ env: { LARES_TOKEN: "" } });
    try {
      const file = join(fresh.home, "token");
      const made = readFileSync(file, "utf8").trim();
      expect(made.length).toBeGreaterThan(20);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect((await fresh.rpc("health", {})).ok).toBe(true);
      await fresh.restart();
      expect(readFileSync(file, "utf8").trim()).toBe(made);
      expect((await fresh.rpc("health", {})).ok).toBe(true);
    } finally {
      await fresh.dispose();
    }
  });
});

describe("POST /chat", () => {
  it("answers with the agent's words, and headers name turn, session and state", async () => {
    const answer = await lares.chat("ana", "say:Hello Ana");
    expect(answer).toMatchObject({ status: 200, agent: "main", response: "Hello Ana", state: "answered" });
    expect(answer.headers.get("x-lares-turn")).toBe(answer.turn);
    expect(answer.headers.get("x-lares-session")).toBe(answer.session);
    expect(answer.headers.get("x-lares-state")).toBe("answered");
  });

  it("one user is one conversation, another user another", async () => {
    await lares.chat("bea", "my name is Bea");
    await lares.chat("bea", "second");
    await lares.chat("cid", "from somebody else");
    const [second] = requestsWith(model, "second");
    expect(userTexts(second!)).toEqual(["my name is Bea", "second"]);
    expect(userTexts(requestsWith(model, "from somebody else")[0]!)).toEqual(["from somebody else"]);
  });

  it("the same Idempotency-Key is the same turn, also while it still runs", async () => {
    const text = "delay:300 say:once";
    const [a, b] = await Promise.all([
      lares.chat("dora", text, { key: "k-1" }),
      lares.chat("dora", text, { key: "k-1" }),
    ]);
    const c = await lares.chat("dora", text, { key: "k-1" });
    expect([a.response, b.response, c.response]).toEqual(["once", "once", "once"]);
    expect(new Set([a.turn, b.turn, c.turn]).size).toBe(1);
    expect(c.duplicate).toBe(true);
    expect(model.requests).toHaveLength(1);
  });
});

describe("OpenAI-compatible", () => {
  it("lists models", async () => {
    const { status, json } = await lares.request("GET", "/v1/models");
    expect(status).toBe(200);
    const ids = (json.data as { id: string }[]).map((one) => one.id);
    expect(ids).toContain("lares");
    expect(ids.some((id) => id.startsWith("anthropic/"))).toBe(true);
  });

  it("completes as JSON, `user` chooses the session", async () => {
    const complete = (content: string) =>
      lares.request("POST", "/v1/chat/completions", {
        body: { model: "lares", user: "eva", messages: [{ role: "user", content }] },
      });
    const first = await complete("say:One");
    expect(first.status).toBe(200);
    expect(first.json).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { role: "assistant", content: "One" }, finish_reason: "stop" }],
    });
    expect((first.json.usage as { total_tokens: number }).total_tokens).toBeGreaterThan(0);
    expect(first.headers.get("x-lares-state")).toBe("answered");
    await complete("say:Two");
    expect(userTexts(model.requests[1]!)).toEqual(["say:One", "say:Two"]);
  });

  it("without `user` each request is a conversation of its own, with what it carries", async () => {
    await lares.request("POST", "/v1/chat/completions", {
      body: {
        model: "lares",
        messages: [
          { role: "user", content: "I like tea" },
          { role: "assistant", content: "Noted" },
          { role: "user", content: "What do I like?" },
        ],
      },
    });
    const texts = userTexts(model.requests[0]!).join("\n");
    expect(texts).toContain("I like tea");
    expect(texts.endsWith("What do I like?")).toBe(true);
    expect(model.requests).toHaveLength(1);
  });

  it("streams by SSE: deltas, a finish reason, [DONE]", async () => {
    const response = await fetch(`${lares.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${lares.token}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "lares",
        user: "finn",
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: "user", content: "say:A longer answer in pieces" }],
      }),
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
    expect(lines.at(-1)).toBe("data: [DONE]");
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice(6)) as Chunk);
    const words = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "");
    expect(words.join("")).toBe("A longer answer in pieces");
    expect(words.filter(Boolean).length).toBeGreaterThan(1);
    expect(chunks.some((chunk) => chunk.choices[0]?.finish_reason === "stop")).toBe(true);
    expect(chunks.some((chunk) => (chunk.usage?.total_tokens ?? 0) > 0)).toBe(true);
  });

  it("a failed turn is an error in OpenAI's shape", async () => {
    const { status, json } = await lares.request("POST", "/v1/chat/completions", {
      body: { model: "lares", user: "gus", messages: [{ role: "user", content: "fail:format" }] },
    });
    expect(status).toBeGreaterThanOrEqual(400);
    expect((json.error as { message: string }).message.length).toBeGreaterThan(10);
  });
});

interface Chunk {
  choices: { delta: { content?: string }; finish_reason: string | null }[];
  usage?: { total_tokens: number };
}

describe("POST /rpc", () => {
  it("health, status and models", async () => {
    expect(await lares.rpc("health", {})).toMatchObject({ ok: true });
    const status = await lares.rpc("status", {});
    expect(status).toMatchObject({ pid: lares.pid, home: lares.home, url: lares.url, problems: [] });
    expect(status.model.practice).toBe(false);
    expect((await lares.rpc("models.list", {})).models.length).toBeGreaterThan(0);
  });

  it("chat.send without waiting is durable at once, turns.wait gives the answer, turns.get the steps", async () => {
    const sent = await lares.rpc("chat.send", { user: "hal", message: "delay:200 say:later", wait: false });
    expect(["queued", "running"]).toContain(sent.state);
    expect(await lares.rpc("turns.wait", { turn: sent.turn })).toMatchObject({ response: "later", state: "answered" });
    const turn = await lares.rpc("turns.get", { turn: sent.turn });
    expect(turn).toMatchObject({ state: "answered", response: "later" });
    expect(turn.steps.map((step) => step.name)).toEqual(["model:0"]);
    expect((await lares.rpc("turns.list", { session: sent.session })).turns.map((t) => t.turn)).toEqual([sent.turn]);
    const { messages } = await lares.rpc("chat.history", { session: sent.session });
    expect(messages.map((m) => m.role)).toEqual(["user", "assistant"]);
  });

  it("chat.abort stops a running turn with a visible outcome", async () => {
    const sent = await lares.rpc("chat.send", { user: "ida", message: "delay:20000 say:never", wait: false });
    await until("the model to be asked", () => requestsWith(model, "say:never")[0]);
    expect(await lares.rpc("chat.abort", { turn: sent.turn })).toMatchObject({ stopped: true });
    const end = await lares.rpc("turns.wait", { turn: sent.turn });
    expect(end.state).toBe("stopped");
    expect(end.reason).toBeTruthy();
    const over = await lares.chat("ida", "say:done");
    expect((await lares.rpc("chat.abort", { turn: over.turn })).stopped).toBe(false);
  });
});

describe("bad input is refused with a code, a sentence and a hint, and nothing is stored", () => {
  const refused: [string, string, { raw?: string; body?: unknown }, number, string][] = [
    ["malformed JSON", "/chat", { raw: '{"user_id": "x", ' }, 400, "BAD_JSON"],
    ["a wrong type", "/chat", { body: { user_id: "bad", message: 42 } }, 400, "BAD_REQUEST"],
    ["a missing field", "/chat", { body: { user_id: "bad" } }, 400, "BAD_REQUEST"],
    ["an empty message", "/chat", { body: { user_id: "bad", message: "" } }, 400, "BAD_REQUEST"],
    ["an unknown field", "/chat", { body: { user_id: "bad", message: "x", mesage: "y" } }, 400, "BAD_REQUEST"],
    ["an array", "/chat", { body: [1, 2] }, 400, "BAD_REQUEST"],
    [
      "a body over the limit",
      "/chat",
      { body: { user_id: "bad", message: "x".repeat(1_100_000) } },
      413,
      "BODY_TOO_LARGE",
    ],
    [
      "a message over the limit",
      "/chat",
      { body: { user_id: "bad", message: "x".repeat(300_000) } },
      400,
      "BAD_REQUEST",
    ],
    ["an unknown method", "/rpc/chat.sned", { body: {} }, 404, "UNKNOWN_METHOD"],
    ["a wrong decision", "/rpc/approvals.resolve", { body: { id: "x", decision: "perhaps" } }, 400, "BAD_REQUEST"],
    ["an unknown agent", "/chat", { body: { user_id: "bad", message: "x", agent: "nobody" } }, 404, "AGENT_UNKNOWN"],
    [
      "no user message",
      "/v1/chat/completions",
      { body: { model: "lares", user: "bad", messages: [] } },
      400,
      "BAD_REQUEST",
    ],
  ];

  it.each(refused)("%s at %s", async (_what, path, given, status, code) => {
    const before = await lares.rpc("sessions.list", { limit: 500 });
    const answer = await lares.request("POST", path, given);
    expect(answer.status).toBe(status);
    const error = answer.json.error as ErrorBody;
    expect(error.code.toUpperCase()).toBe(code);
    expect(error.message).toMatch(/\w+ \w+/);
    // OpenAI's error shape has no field for a hint, so there it is part of the sentence.
    if (!path.startsWith("/v1")) expect(error.hint).toMatch(/\w/);
    expect(model.requests).toHaveLength(0);
    expect(await lares.rpc("sessions.list", { limit: 500 })).toEqual(before);
  });

  it.each(["/chat", "/rpc/chat.send", "/v1/chat/completions", "/v1/responses", "/login", "/mcp", "/a2a/v1"])(
    "a body that is no JSON: %s says what is wrong and where, in plain words",
    async (path) => {
      const said = async (raw: string) => {
        const { json, status } = await lares.request("POST", path, { raw });
        return { status, message: (json.error as ErrorBody).message };
      };
      expect(await said("{'message': 1}")).toEqual({
        status: 400,
        message: expect.stringContaining(
          'not JSON: a name in double quotes or "}" is expected at character 2 of 14 instead of "\'", near: {\'message\': 1}',
        ),
      });
      expect((await said('{"message": "x"')).message).toContain("it ends after 15 characters");
      expect((await said('{"message": 01}')).message).not.toMatch(/Unexpected|position|token/);
    },
  );

  it("an unknown field and an unknown method name the nearest known one", async () => {
    const field = await lares.request("POST", "/chat", { body: { user_id: "bad", message: "x", sesion: "y" } });
    expect((field.json.error as ErrorBody).hint).toContain('"session"');
    const method = await lares.request("POST", "/rpc/chat.sned", { body: {} });
    expect((method.json.error as ErrorBody).hint).toContain('"chat.send"');
  });

  it("a body without a length that grows over the limit is cut off", async () => {
    const big = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 20; i++) controller.enqueue(new TextEncoder().encode("x".repeat(100_000)));
        controller.close();
      },
    });
    const response = await fetch(`${lares.url}/chat`, {
      method: "POST",
      headers: { authorization: `Bearer ${lares.token}` },
      body: big,
      duplex: "half",
    } as RequestInit);
    expect(response.status).toBe(413);
  });
});
