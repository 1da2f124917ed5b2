/** What happens when a model does not answer: rotation, fallback, cooldown, return, and the sentences people read. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ModelServer, type Reply, startModelServer } from "../../../test/fakes/model-server/index.ts";
import { ManualClock, silentLog } from "../../core/kit/index.ts";
import { answered, refused, run, testModels } from "./testing.ts";

let server: ModelServer;
/** What each model does now. */
let does: Record<string, Reply>;
beforeEach(async () => {
  does = {};
  server = await startModelServer({ script: (r) => does[r.model] ?? { text: `I am ${r.model}` } });
});
afterEach(() => server.close());

const asked = () => server.requests.map((r) => r.model);
const keysUsed = () => server.requests.map((r) => r.headers["x-api-key"] ?? r.headers.authorization);

function twoProviders(more: Record<string, unknown> = {}) {
  return {
    default: "anthropic/x",
    fallbacks: ["openai/y"],
    providers: {
      anthropic: { baseUrl: server.url, keys: ["key-aaaa-1111", "key-aaaa-2222"] },
      openai: { baseUrl: server.url, keys: ["key-oooo-1111"] },
    },
    ...more,
  };
}

describe("credentials", () => {
  it("a rate limit on the first key is answered by the second, without a notice", async () => {
    const clock = new ManualClock();
    let calls = 0;
    server.use(() => (++calls === 1 ? { fail: { kind: "rate-limit", retryAfterS: 20 } } : { text: "ok" }));
    const models = testModels({ config: twoProviders({ fallbacks: [] }), clock });
    const ok = answered((await run(models)).reply);
    expect(ok).toMatchObject({ model: "anthropic/x", notice: null });
    expect(keysUsed()).toEqual(["key-aaaa-1111", "key-aaaa-2222"]);
    // Retry-After is honoured: the first key rests for 20 s, then it is first again.
    clock.advance(19_999);
    await run(models);
    clock.advance(1);
    await run(models);
    expect(keysUsed().slice(2)).toEqual(["key-aaaa-2222", "key-aaaa-1111"]);
  });

  it("a rejected key is not asked again in the same call", async () => {
    does.x = { fail: { kind: "auth" } };
    const models = testModels({ config: twoProviders({ fallbacks: [] }) });
    const failed = refused((await run(models)).reply);
    expect(failed.failure).toBe("auth");
    expect(keysUsed()).toEqual(["key-aaaa-1111", "key-aaaa-2222"]);
  });
});

describe("fallback", () => {
  it("answers from the next model and says so in one sentence", async () => {
    does.x = { fail: { kind: "overload" } };
    const ok = answered((await run(testModels({ config: twoProviders() }))).reply);
    expect(ok.model).toBe("openai/y");
    expect(ok.notice).toBe("anthropic/x was overloaded; openai/y answered.");
    expect(asked()).toEqual(["x", "x", "y"]);
  });

  it("stays with the fallback while the first is cooling down, then returns to it by a probe", async () => {
    const clock = new ManualClock();
    const models = testModels({ config: twoProviders(), clock });
    does.x = { fail: { kind: "overload" } };
    await run(models);
    server.reset();
    does.x = { text: "well again" };
    const during = answered((await run(models)).reply);
    expect(during.notice).toBe("anthropic/x was overloaded; openai/y answered.");
    clock.advance(30_000);
    const after = answered((await run(models)).reply);
    expect(after).toMatchObject({ model: "anthropic/x", notice: null });
    // The success forgot the failure: it stays first (CHAIN-9).
    await run(models);
    expect(asked()).toEqual(["y", "x", "x"]);
    expect(keysUsed().slice(1)).toEqual(["key-aaaa-1111", "key-aaaa-1111"]);
  });

  it("sends one call as the probe; others go on with the fallback meanwhile (CHAIN-11)", async () => {
    const clock = new ManualClock();
    const config = twoProviders();
    config.providers.anthropic.keys.pop();
    const models = testModels({ config, clock });
    does.x = { fail: { kind: "overload" } };
    await run(models);
    clock.advance(30_000);
    does.x = { text: "slow but well", delayMs: 50 };
    const [probe, other] = await Promise.all([run(models), run(models)]);
    expect(answered(probe.reply).model).toBe("anthropic/x");
    expect(answered(other.reply).model).toBe("openai/y");
  });

  it("a model named in the request is asked alone", async () => {
    does.x = { fail: { kind: "auth" } };
    refused((await run(testModels({ config: twoProviders() }), { model: "anthropic/x" })).reply);
    expect(asked()).toEqual(["x", "x"]);
  });

  it("a default without a provider is said in the notice of the fallback", async () => {
    const config = twoProviders({ default: "google/gemini-2.5-pro" });
    const ok = answered((await run(testModels({ config }))).reply);
    expect(ok.notice).toBe("google/gemini-2.5-pro is not set up; openai/y answered.");
  });

  it("too long for the only model: said as such, asked once (CHAIN-4)", async () => {
    does.x = { fail: { kind: "context-overflow" } };
    const failed = refused((await run(testModels({ config: twoProviders({ fallbacks: [] }) }))).reply);
    expect(failed.failure).toBe("context-overflow");
    expect(asked()).toEqual(["x"]);
  });

  it("too long for the fallback is said before the first one's trouble: the caller can mend it", async () => {
    does.x = { fail: { kind: "auth" } };
    does.y = { fail: { kind: "context-overflow" } };
    expect(refused((await run(testModels({ config: twoProviders() }))).reply).failure).toBe("context-overflow");
  });

  it("too long for the first is asked of a larger model only", async () => {
    does.x = { fail: { kind: "context-overflow" } };
    const larger = twoProviders();
    Object.assign(larger.providers.openai, { models: { y: { contextWindow: 900_000 } } });
    expect(answered((await run(testModels({ config: larger }))).reply).notice).toBe(
      "anthropic/x could not hold the conversation; openai/y answered.",
    );
    server.reset();
    const smaller = twoProviders();
    Object.assign(smaller.providers.openai, { models: { y: { contextWindow: 1_000 } } });
    expect(refused((await run(testModels({ config: smaller }))).reply).failure).toBe("context-overflow");
    expect(asked()).toEqual(["x"]);
  });
});

describe("trying again", () => {
  it("retries a lone model after a pause and answers", async () => {
    let calls = 0;
    server.use(() => (++calls < 3 ? { fail: { kind: "overload" } } : { text: "at last" }));
    const config = { default: "p/x", providers: { p: { baseUrl: server.url } } };
    const clock = new ManualClock();
    const pauses: number[] = [];
    const arm = clock.after.bind(clock);
    clock.after = (ms, fire) => {
      // Pauses between attempts are short; time limits of an attempt are long.
      if (ms > 60_000) return arm(ms, fire);
      pauses.push(ms);
      queueMicrotask(() => clock.advance(ms));
      return arm(ms, fire);
    };
    const ok = answered((await run(testModels({ config, clock }))).reply);
    expect(ok.content).toEqual([{ type: "text", text: "at last" }]);
    expect(pauses).toHaveLength(2);
    expect(pauses[0]).toBeGreaterThanOrEqual(250);
    expect(pauses[0]).toBeLessThanOrEqual(500);
    expect(pauses[1]).toBeGreaterThanOrEqual(500);
    expect(pauses[1]).toBeLessThanOrEqual(1000);
  });

  it("does not wait past its patience (CHAIN-6)", async () => {
    does.x = { fail: { kind: "rate-limit", retryAfterS: 30 } };
    const config = { default: "p/x", patienceMs: 10_000, providers: { p: { baseUrl: server.url } } };
    const failed = refused((await run(testModels({ config }))).reply);
    expect(failed).toMatchObject({ failure: "rate-limit" });
    expect(asked()).toEqual(["x"]);
  });

  it("an abort during the pause ends the call with an AbortError", async () => {
    does.x = { fail: { kind: "rate-limit", retryAfterS: 30 } };
    const abort = new AbortController();
    const config = { default: "p/x", providers: { p: { baseUrl: server.url } } };
    const log = { ...silentLog, warn: () => abort.abort() };
    await expect(run(testModels({ config, log }), {}, abort.signal)).rejects.toMatchObject({ name: "AbortError" });
  });

  it("an unreachable server is class network, with no address in the message", async () => {
    const config = { default: "p/x", patienceMs: 0, providers: { p: { baseUrl: "http://127.0.0.1:9/v1?key=abc" } } };
    const failed = refused((await run(testModels({ config }))).reply);
    expect(failed.failure).toBe("network");
    expect(failed.message).not.toContain("key=abc");
    expect(failed.message).toContain("p/x could not be reached");
  });

  it("an answer that breaks off isn't called unreachable", async () => {
    does.x = { text: "half of an answer", cut: true };
    const config = { default: "p/x", patienceMs: 0, providers: { p: { baseUrl: server.url } } };
    const failed = refused((await run(testModels({ config }))).reply);
    expect(failed).toMatchObject({ failure: "network" });
    expect(failed.message).toContain("p/x broke off in the middle of its answer");
    expect(failed.hint).toContain("before the answer was complete");
  });

  it("a connection that was closed while idle costs no failure", async () => {
    const warned: unknown[] = [];
    const models = testModels({
      config: { default: "p/x", providers: { p: { baseUrl: server.url } } },
      log: { ...silentLog, warn: (what) => warned.push(what) },
    });
    answered((await run(models)).reply);
    const port = server.port;
    await server.close();
    server = await startModelServer({ port, script: () => ({ text: "new process" }) });
    expect(answered((await run(models)).reply).content).toEqual([{ type: "text", text: "new process" }]);
    expect(warned).toEqual([]);
  });
});

describe("words", () => {
  it("keys appear in no message, hint, notice or log line", async () => {
    const said: unknown[] = [];
    const log = { ...silentLog, warn: (what: string, facts?: unknown) => said.push(what, facts) };
    does.x = { fail: { kind: "auth", message: "Incorrect API key provided: key-aaaa-1111. See https://a.b/c?key=zz" } };
    does.y = { fail: { kind: "auth", message: "bad key key-oooo-1111" } };
    const failed = refused((await run(testModels({ config: twoProviders(), log }))).reply);
    const everything = JSON.stringify([failed, said]);
    expect(everything).not.toMatch(/key-aaaa|key-oooo|key=zz/);
    expect(failed.message).toContain("anthropic/x rejected its key");
    expect(failed.message).toContain("openai/y rejected its key");
  });

  it("the hint doesn't say to set models.fallbacks where there are some", async () => {
    for (const kind of ["overload", "billing", "rate-limit"] as const) {
      does.x = does.y = { fail: { kind } };
      const { hint } = refused((await run(testModels({ config: { ...twoProviders(), patienceMs: 0 } }))).reply);
      expect(hint).toContain("add another model to models.fallbacks");
      expect(hint).not.toContain("set models.fallbacks");
      const alone = { ...twoProviders(), fallbacks: [], patienceMs: 0 };
      expect(refused((await run(testModels({ config: alone }))).reply).hint).toContain("set models.fallbacks");
    }
  });

  it("prints nothing on the console, whatever the library thinks of the model", async () => {
    const printed: unknown[] = [];
    const { warn, log, error } = console;
    console.warn = console.log = console.error = (...args: unknown[]) => printed.push(args);
    try {
      const config = { default: "p/unknown", providers: { p: { api: "anthropic", baseUrl: server.url } } };
      answered((await run(testModels({ config }), { thinking: "high" })).reply);
    } finally {
      Object.assign(console, { warn, log, error });
    }
    expect(printed).toEqual([]);
  });
});

describe("what a stream used that was cut off", () => {
  const priced = (price: object) => ({
    default: "openai/x",
    providers: { openai: { baseUrl: server.url, keys: ["key-oooo-1111"], models: { x: { price } } } },
  });
  const cut: Reply = { text: "half of a story", pieces: 4, cut: true };

  it("is unknown, and with it what the call cost; the answer's own figures stay", async () => {
    let calls = 0;
    server.use(() => (++calls === 1 ? cut : { text: "ok" }));
    const ok = answered((await run(testModels({ config: priced({ input: 1, output: 2 }) }))).reply);
    expect(ok.usage.cost).toBeNull();
    expect(ok.ownUsage?.cost).toBeGreaterThan(0);
  });

  it("is unknown also when nobody answers", async () => {
    server.use(() => cut);
    const failed = refused((await run(testModels({ config: priced({ input: 1, output: 2 }) }))).reply);
    expect(failed.usage.cost).toBeNull();
  });

  it("is nothing where the model costs nothing, or the request was refused", async () => {
    server.use(() => cut);
    const free = refused((await run(testModels({ config: priced({ input: 0, output: 0 }) }))).reply);
    expect(free.usage.cost).toBe(0);
    server.use(() => ({ fail: { kind: "auth" } }));
    const denied = refused((await run(testModels({ config: priced({ input: 1, output: 2 }) }))).reply);
    expect(denied.usage.cost).toBe(0);
  });
});
