/** Which providers are found, where they are, and which model answers first. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../../../test/fakes/model-server/index.ts";
import { modelsConfig } from "./config.ts";
import { computeCost, findPrice, PRICES } from "./prices.ts";
import { findProviders, normaliseUrl } from "./providers.ts";
import { answered, refused, run, testModels } from "./testing.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const found = (env: Record<string, string>, config: Record<string, unknown> = {}) => [
  ...findProviders(modelsConfig.parse(config), env).values(),
];

describe("base URLs", () => {
  it.each([
    ["http://h:1", "anthropic", "http://h:1/v1"],
    ["http://h:1/", "anthropic", "http://h:1/v1"],
    ["http://h:1/v1", "anthropic", "http://h:1/v1"],
    ["http://h:1/v1/", "anthropic", "http://h:1/v1"],
    ["https://proxy/anthropic", "anthropic", "https://proxy/anthropic/v1"],
    ["http://h:1", "openai-chat", "http://h:1/v1"],
    ["http://h:1/v1/", "openai-chat", "http://h:1/v1"],
    ["https://proxy/openai", "openai-chat", "https://proxy/openai"],
    ["https://h/api/v3", "openai-responses", "https://h/api/v3"],
    ["http://h:1", "google", "http://h:1/v1beta"],
  ] as const)("%s for %s is %s", (url, api, wanted) => {
    expect(normaliseUrl(url, api)).toBe(wanted);
  });

  it.each([
    ["ANTHROPIC_BASE_URL", "", "anthropic"],
    ["ANTHROPIC_BASE_URL", "/v1", "anthropic"],
    ["OPENAI_BASE_URL", "", "openai-chat"],
    ["OPENAI_BASE_URL", "/v1", "openai-chat"],
    ["OLLAMA_BASE_URL", "", "openai-chat"],
  ])("%s with path '%s' reaches the server", async (name, path, protocol) => {
    server.reset();
    const env = { [name]: server.url + path, ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" };
    const ok = answered((await run(testModels({ env }))).reply);
    expect(ok.content).toEqual([{ type: "text", text: "echo: hello" }]);
    expect(server.requests[0]?.protocol).toBe(protocol);
  });

  it("speaks Responses to OpenAI itself, and what it is told to elsewhere", () => {
    expect(found({ OPENAI_API_KEY: "k" })[0]).toMatchObject({ api: "openai-responses", official: true });
    expect(found({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://api.openai.com/v1" })[0]?.api).toBe(
      "openai-responses",
    );
    expect(found({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" })[0]?.api).toBe("openai-chat");
    const told = { providers: { openai: { api: "openai-responses" } } };
    expect(found({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:1" }, told)[0]?.api).toBe(
      "openai-responses",
    );
    expect(found({ OPENAI_API_KEY: "k" }, { providers: { openai: { api: "openai-chat" } } })[0]?.api).toBe(
      "openai-chat",
    );
  });
});

describe("what is found", () => {
  it("nothing without a key, and then the practice model answers", () => {
    expect(found({})).toEqual([]);
    expect(testModels({}).primary()).toMatchObject({ id: "practice/practice", practice: true });
  });

  it.each([
    [{ ANTHROPIC_API_KEY: "k" }, "anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY is set"],
    [{ OPENAI_API_KEY: "k" }, "openai/gpt-6.1-sol", "OPENAI_API_KEY is set"],
    [{ GEMINI_API_KEY: "k" }, "google/gemini-3.8-flash", "GEMINI_API_KEY is set"],
    [{ OPENROUTER_API_KEY: "k" }, "openrouter/openrouter/auto", "OPENROUTER_API_KEY is set"],
    [{ OLLAMA_BASE_URL: "http://127.0.0.1:11434" }, "ollama/llama3.2", "OLLAMA_BASE_URL is set"],
  ])("%j alone gives %s", (env, id, because) => {
    expect(testModels({ env: env as Record<string, string> }).primary()).toMatchObject({
      id,
      because,
      practice: false,
    });
  });

  it("LARES_MODEL goes before the configured default, and that before what is found", () => {
    const env = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" };
    expect(testModels({ env, config: { default: "openai/gpt-5.2" } }).primary().id).toBe("openai/gpt-5.2");
    const chosen = { ...env, LARES_MODEL: "practice/practice" };
    expect(testModels({ env: chosen, config: { default: "openai/gpt-5.2" } }).primary().practice).toBe(true);
  });

  it("keys and profiles of the configuration go before the environment's key", () => {
    const providers = { anthropic: { keys: ["k1"], profiles: [{ name: "work", key: "k2" }] } };
    const [anthropic] = found({ ANTHROPIC_API_KEY: "env" }, { providers });
    expect(anthropic?.credentials.map((c) => c.name)).toEqual(["key-1", "work"]);
  });

  it("a chosen model whose provider has no key fails with a hint, not with another model", async () => {
    const models = testModels({ env: { LARES_MODEL: "anthropic/claude-opus-5-5" } });
    expect(models.primary().because).toContain("ANTHROPIC_API_KEY");
    const failed = refused((await run(models)).reply);
    expect(failed).toMatchObject({ failure: "auth", hint: expect.stringContaining("ANTHROPIC_API_KEY") });
  });

  it("a mistyped provider is named with the nearest known one", async () => {
    const models = testModels({ env: { OPENAI_API_KEY: "k" } });
    const failed = refused((await run(models, { model: "opnai/gpt-5" })).reply);
    expect(failed).toMatchObject({ failure: "not-found", hint: expect.stringContaining("openai") });
  });

  it("lists models with facts, without keys", () => {
    const custom = { baseUrl: "http://127.0.0.1:1", models: { tiny: { contextWindow: 4096, maxOutput: 512 } } };
    const models = testModels({ env: { ANTHROPIC_API_KEY: "secret-key" }, config: { providers: { lab: custom } } });
    const ids = models.list().map((model) => model.id);
    expect(ids).toEqual(expect.arrayContaining(["anthropic/claude-sonnet-5-5", "lab/tiny", "practice/practice"]));
    expect(models.info("lab/tiny")).toMatchObject({ contextWindow: 4096, maxOutput: 512, price: null });
    expect(models.info("anthropic/claude-sonnet-5-5")?.price).toEqual({
      input: 2,
      output: 10,
      cacheRead: 0.2,
      cacheWrite: 2.5,
    });
    expect(models.info("nobody/x")).toBeUndefined();
    expect(JSON.stringify(models.list())).not.toContain("secret-key");
  });

  it("warm loads without asking anybody, and never throws", async () => {
    server.reset();
    await testModels({ env: { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: server.url } }).warm();
    await testModels({}).warm();
    expect(server.requests).toEqual([]);
  });
});

describe("configuration", () => {
  it("refuses unknown keys and ids without a provider", () => {
    expect(modelsConfig.safeParse({ fallback: [] }).success).toBe(false);
    expect(modelsConfig.safeParse({ default: "claude" }).success).toBe(false);
    expect(modelsConfig.safeParse({ providers: { x: { baseURL: "http://h" } } }).success).toBe(false);
    expect(modelsConfig.parse({})).toMatchObject({ fallbacks: [], idleTimeoutMs: 120_000, maxOutputTokens: 8192 });
  });

  it("describes every key", () => {
    for (const [key, schema] of Object.entries(modelsConfig.shape)) expect(schema.description, key).toBeTruthy();
  });
});

describe("prices", () => {
  it("find dated ids, and do not lend a family's price to its variants", () => {
    expect(findPrice("anthropic", "claude-haiku-4-5-20251001")).toBe(PRICES.anthropic!["claude-haiku-4-5"]);
    expect(findPrice("openai", "gpt-5-mini-2025-08-07")).toBe(PRICES.openai!["gpt-5-mini"]);
    expect(findPrice("openai", "gpt-5-pro")).toBeNull();
    expect(findPrice("ollama", "llama3.2")).toBeNull();
  });

  it("count cached tokens at their own price, and long prompts at theirs", () => {
    const usage = { inputTokens: 1e6, outputTokens: 1e6, cacheReadTokens: 0, cacheWriteTokens: 0 };
    expect(computeCost(findPrice("anthropic", "claude-sonnet-5-5"), usage)).toBeCloseTo(12);
    const cached = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 1e6, cacheWriteTokens: 1e6 };
    expect(computeCost(findPrice("anthropic", "claude-sonnet-5-5"), cached)).toBeCloseTo(2.7);
    const short = { inputTokens: 100_000, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    expect(computeCost(findPrice("anthropic", "claude-haiku-5-5"), short)).toBeCloseTo(0.01);
    expect(computeCost(findPrice("anthropic", "claude-haiku-5-5"), { ...short, cacheReadTokens: 1 })).toBeCloseTo(
      0.05,
      4,
    );
    expect(computeCost(null, usage)).toBeNull();
  });
});
