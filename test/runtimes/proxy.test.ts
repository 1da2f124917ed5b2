/** The model proxy: what a child gets through it, what it doesn't, and what stays of it in the ledger. */
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { ModelApi } from "../../src/core/contracts/index.ts";
import { directiveScript, type ModelServer, startModelServer } from "../fakes/model-server/index.ts";
import { scratch, until } from "../support/index.ts";
import { allProviders, call, FORMATS, openProxyWorld, type ProxyWorldOptions } from "./proxy-world.ts";

const SAY = directiveScript();
const APIS = Object.keys(FORMATS) as ModelApi[];
let model: ModelServer;
beforeEach(async () => {
  model = await startModelServer();
});
afterEach(() => model.close());

async function world(more: Partial<ProxyWorldOptions> = {}) {
  const made = await openProxyWorld({ home: scratch("lares-proxy-"), models: allProviders(model.url), ...more });
  onTestFinished(() => made.close());
  return made;
}

describe.each(APIS)("in the format %s", (api) => {
  test.each([true, false])(
    "RELAY-1: an answer comes byte for byte, and the ledger has what it used (stream: %s)",
    async (stream) => {
      const { grant, ledger, holds } = await world();
      const { baseUrl, token } = await grant();
      const asked = FORMATS[api](token, "say:hello there", stream);
      const through = await call(baseUrl, asked);
      const seen = await through.text();
      const direct = await call(model.url, asked);
      expect(through.status).toBe(200);
      expect(seen).toBe(await direct.text());
      expect(through.headers.get("content-type")).toBe(direct.headers.get("content-type"));
      // PROXY-1, RELAY-3: the provider got its own key and the request as it was written.
      const [first, second] = model.requests;
      expect(first!.raw).toBe(second!.raw);
      expect(JSON.stringify(first!.headers)).toContain("provider-key-1");
      expect(JSON.stringify(first!.headers)).not.toContain(token);
      const [line] = await until("a line in the ledger", async () => ((await ledger()).length ? ledger() : undefined));
      expect(line).toMatchObject({ call: 0, runtime: "claude-code", basis: "priced" });
      expect(Number(line!.input_tokens) + Number(line!.output_tokens)).toBeGreaterThan(2);
      expect(line!.cost).toBeGreaterThan(0);
      expect(await holds()).toEqual([]);
    },
  );

  test("without any key the practice model answers in this format, and says what it is", async () => {
    const { grant, ledger } = await world({ models: {} });
    const { baseUrl, token } = await grant();
    for (const stream of [true, false]) {
      const answer = await call(baseUrl, FORMATS[api](token, "hello", stream));
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("practice model")]);
    }
    await until("the ledger", async () => (await ledger()).length === 2);
    expect(await ledger()).toMatchObject([{ cost: 0 }, { cost: 0 }]);
  });

  test("what it refuses is an error in this format", async () => {
    const { grant } = await world();
    const { baseUrl } = await grant();
    const answer = await call(baseUrl, FORMATS[api]("no-such-token", "say:hi", true));
    const { error } = (await answer.json()) as { error: { message: string } };
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([401, "false"]);
    expect(error.message).toContain("The token is missing, unknown, revoked or out of time.");
    expect(model.requests).toEqual([]);
  });
});

const ask = (token: string, text: string, stream = true) => FORMATS.anthropic(token, text, stream);

describe("a lease", () => {
  test("LEASE-3: revoked in the middle of an answer, it is cut off at once, the provider too, and what was used is settled (RT-01)", async () => {
    model.use(() => ({ text: "a long story ".repeat(50), stall: true }));
    const { grant, ledger, holds } = await world();
    const { baseUrl, token, revoke } = await grant();
    const other = await grant({ run: "run-2" });
    const answer = await call(baseUrl, ask(token, "tell me"));
    const reader = answer.body!.getReader();
    await reader.read();
    revoke();
    await expect(readAll(reader)).rejects.toThrow();
    await until("the provider's connection to close", () => model.requests[0]!.aborted);
    await until("the ledger", async () => (await ledger()).length === 1);
    expect(await ledger()).toMatchObject([{ basis: "guessed" }]);
    expect(await holds()).toEqual([]);
    expect((await call(other.baseUrl, ask(token, "say:again"))).status).toBe(401);
    expect((await call(other.baseUrl, ask(other.token, "hello"))).status).toBe(200);
    other.revoke();
  });

  test("LEASE-2, PROXY-4: out of time, it is no longer one; and nobody listens when there is none", async () => {
    const { grant } = await world();
    const { baseUrl, token, revoke } = await grant({ until: Date.now() + 40 });
    // A call that is under way when it ends is cut off.
    const status = () =>
      call(baseUrl, ask(token, "say:hi")).then(
        (answer) => answer.status,
        () => "cut off",
      );
    await until("the lease to end", async () => (await status()) === 401);
    revoke();
    await until("the door to close", () =>
      call(baseUrl, ask(token, "say:hi")).then(
        () => false,
        () => true,
      ),
    );
    const next = await grant();
    expect((await call(next.baseUrl, ask(next.token, "say:hi"))).status).toBe(200);
  });

  test("LEASE-1: Lares started again knows none of the tokens", async () => {
    const [before, after] = [await world(), await world()];
    const { token } = await before.grant();
    const { baseUrl } = await after.grant();
    expect((await call(baseUrl, ask(token, "say:hi"))).status).toBe(401);
  });

  test("has only so many calls at once", async () => {
    model.use(() => ({ text: "wait", stall: true }));
    const { grant } = await world();
    const { baseUrl, token } = await grant();
    const gone = new AbortController();
    const all = Array.from({ length: 16 }, () => call(baseUrl, ask(token, "x"), gone.signal));
    await Promise.all(all);
    const one = await call(baseUrl, ask(token, "x"));
    expect([one.status, one.headers.get("retry-after")]).toEqual([429, "1"]);
    gone.abort();
    await until(
      "room again",
      async () =>
        (await call(baseUrl, FORMATS.anthropic(token, "x", false), AbortSignal.timeout(200)).then(
          (r) => r.status,
          () => 0,
        )) !== 429,
    );
  });
});

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

describe("money", () => {
  test("PROXY-1: a call that no budget has room for isn't made, and says so in a way that nobody repeats (RT-05)", async () => {
    const failures: string[] = [];
    const { grant, holds } = await world({ budgets: { perDay: { dollars: 0.5 } } });
    const { baseUrl, token } = await grant({ listener: { onFailure: ({ failure }) => failures.push(failure) } });
    const answer = await call(baseUrl, ask(token, "say:hi"));
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([402, "false"]);
    expect(await answer.text()).toContain("The budget for today does not allow another model call");
    expect([model.requests, failures, await holds()]).toEqual([[], ["budget"], []]);
  });

  test("PROXY-3: a child that goes in the middle of an answer pays for what came, and the provider is let go", async () => {
    model.use(() => ({ text: "a long story ".repeat(50), stall: true }));
    const { grant, ledger, holds, budget } = await world();
    const { baseUrl, token } = await grant();
    const gone = new AbortController();
    const answer = await call(baseUrl, ask(token, "tell me"), gone.signal);
    await answer.body!.getReader().read();
    gone.abort();
    await until("the provider's connection to close", () => model.requests[0]!.aborted);
    await until("the ledger", async () => (await ledger()).length === 1);
    const [line] = await ledger();
    expect(line).toMatchObject({ basis: "guessed" });
    expect(Number(line!.output_tokens)).toBeGreaterThan(50);
    expect(await holds()).toEqual([]);
    const [all] = await budget.use({ agent: "main", session: "agent:main:main" });
    expect([all!.reserved.dollars, all!.spent.dollars]).toEqual([0, line!.cost]);
  });

  test("BUDGET-6, RELAY-4: a child that goes before the answer begins leaves a guess", async () => {
    model.use(() => ({ text: "late", delayMs: 60_000 }));
    const { grant, ledger } = await world();
    const { baseUrl, token } = await grant();
    const gone = new AbortController();
    const asked = call(baseUrl, ask(token, "tell me"), gone.signal).catch(() => {});
    await until("the request", () => model.requests.length === 1);
    gone.abort();
    await asked;
    await until("the ledger", async () => (await ledger()).length === 1);
    expect(await ledger()).toMatchObject([{ basis: "guessed", model: "anthropic/claude-sonnet-4-5" }]);
  });

  test("each call of a turn has its own line, also when they overlap", async () => {
    const { grant, ledger } = await world();
    const { baseUrl, token } = await grant();
    await Promise.all(Array.from({ length: 8 }, async () => (await call(baseUrl, ask(token, "say:hi"))).text()));
    await until("the ledger", async () => (await ledger()).length === 8);
    expect((await ledger()).map((line) => line.call)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test("the run's model is found by the short name that its runtime has for it, and the request stays as it was written", async () => {
    const models = allProviders(model.url) as { providers: Record<string, object> };
    models.providers.other = { ...models.providers.openai, models: {} };
    const { grant, ledger } = await world({ models });
    const { baseUrl, token } = await grant({ model: "other/gpt-5" });
    const asked = FORMATS["openai-responses"](token, "say:hi", true);
    await (await call(baseUrl, asked)).text();
    await (await call(baseUrl, { ...asked, body: { ...asked.body, model: "gpt-5-mini" } })).text();
    await until("the ledger", async () => (await ledger()).length === 2);
    expect((await ledger()).map((line) => line.model)).toEqual(["other/gpt-5", "openai/gpt-5-mini"]);
    expect(JSON.parse(model.requests[0]!.raw)).toEqual(asked.body);
  });

  test("counting tokens costs nothing", async () => {
    const { grant, ledger } = await world({ budgets: { perDay: { dollars: 0 } } });
    const { baseUrl, token } = await grant();
    const asked = { ...ask(token, "say:hi"), path: "/v1/messages/count_tokens" };
    await call(baseUrl, asked);
    expect(model.requests.map(({ path }) => path)).toEqual(["/v1/messages/count_tokens"]);
    expect(await ledger()).toEqual([]);
  });
});

describe("failures", () => {
  test("a wrong key is said at once, without the key, and as final (RT-02)", async () => {
    model.use(() => ({ fail: { kind: "auth", message: "invalid x-api-key provider-key-1" } }));
    const failures: unknown[] = [];
    const { grant, holds, ledger } = await world();
    const { baseUrl, token } = await grant({ listener: { onFailure: (failure) => failures.push(failure) } });
    const answer = await call(baseUrl, ask(token, "say:hi"));
    const text = await answer.text();
    expect([answer.status, answer.headers.get("x-should-retry"), model.requests.length]).toEqual([401, "false", 1]);
    expect(text).toContain("anthropic/claude-sonnet-4-5 rejected its key");
    expect(text).not.toContain("provider-key-1");
    expect(failures).toMatchObject([{ failure: "auth", hint: expect.stringContaining("Check the key") }]);
    expect([await holds(), await ledger()]).toEqual([[], []]);
  });

  test("RELAY-2: with a second key the call goes on, and the first one rests", async () => {
    model.use((request, { headers }) =>
      headers["x-api-key"] === "key-number-one" ? { fail: { kind: "rate-limit", retryAfterS: 60 } } : SAY(request),
    );
    const waits: unknown[] = [];
    const { grant } = await world({ models: allProviders(model.url, ["key-number-one", "key-number-two"]) });
    const { baseUrl, token } = await grant({ listener: { onWait: (wait) => waits.push(wait) } });
    for (let i = 0; i < 2; i++) {
      const answer = await call(baseUrl, ask(token, "say:by the second"));
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("by the")]);
    }
    expect(model.requests.map(({ headers }) => headers["x-api-key"])).toEqual([
      "key-number-one",
      "key-number-two",
      "key-number-two",
    ]);
    expect(waits).toEqual([{ model: "anthropic/claude-sonnet-4-5", failure: "rate-limit", inMs: 0 }]);
  });

  test("a fallback that speaks the same format answers with its own name in the request", async () => {
    model.use((request) => (request.model === "claude-sonnet-4-5" ? { fail: { kind: "overload" } } : SAY(request)));
    const models = { ...allProviders(model.url), fallbacks: ["google/gemini-2.5-flash", "anthropic/claude-haiku-4-5"] };
    const { grant, ledger } = await world({ models });
    const { baseUrl, token } = await grant();
    const answer = await call(baseUrl, ask(token, "say:instead"));
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("claude-haiku-4-5")]);
    expect(model.requests.map((request) => request.model)).toEqual(["claude-sonnet-4-5", "claude-haiku-4-5"]);
    await until("the ledger", async () => (await ledger()).length === 1);
    expect(await ledger()).toMatchObject([{ model: "anthropic/claude-haiku-4-5" }]);
  });

  test("what the child understands itself comes in its provider's words", async () => {
    model.use(() => ({ fail: { kind: "context-overflow" } }));
    const { grant } = await world();
    const { baseUrl, token } = await grant();
    const answer = await call(baseUrl, ask(token, "say:hi"));
    const direct = await call(model.url, ask(token, "say:hi"));
    expect([answer.status, await answer.text()]).toEqual([direct.status, await direct.text()]);
  });

  test("an answer that breaks off breaks off for the child too, and the next call goes to another key", async () => {
    model.use(() => ({ text: "half of a story", cut: true }));
    const { grant, ledger } = await world({ models: allProviders(model.url, ["key-number-one", "key-number-two"]) });
    const { baseUrl, token } = await grant();
    const answer = await call(baseUrl, ask(token, "tell me"));
    await expect(answer.text()).rejects.toThrow();
    await until("the ledger", async () => (await ledger()).length === 1);
    model.use(SAY);
    expect((await call(baseUrl, ask(token, "say:whole"))).status).toBe(200);
    expect(model.requests.map(({ headers }) => headers["x-api-key"])).toEqual(["key-number-one", "key-number-two"]);
  });

  test("a format that no provider speaks is named with the variable to set", async () => {
    const { grant } = await world({ models: {}, env: { GEMINI_API_KEY: "some-gemini-key" } });
    const { baseUrl, token } = await grant();
    const answer = await call(baseUrl, ask(token, "say:hi"));
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("Set ANTHROPIC_API_KEY")]);
  });
});

describe("bad input", () => {
  test.each([
    ["no JSON", "{", 400, "not valid JSON"],
    ["a list", "[]", 400, "not a JSON object"],
    ["no model", "{}", 400, "names no model"],
    ["a body nested without end", "[".repeat(100_000), 400, ""],
  ])("%s is refused with a sentence", async (_what, body, status, words) => {
    const { grant, holds } = await world();
    const { baseUrl, token } = await grant();
    const answer = await call(baseUrl, { ...ask(token, ""), body });
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(words)]);
    expect([model.requests, await holds()]).toEqual([[], []]);
  });

  test.each([
    ["another path", "POST", "/v1/files", 404],
    ["the root", "GET", "/", 404],
    ["a path of Google without a model", "POST", "/v1beta/models/:generateContent", 404],
    ["a broken escape", "POST", "/v1beta/models/%zz:generateContent", 404],
    ["another method", "DELETE", "/v1/messages", 404],
  ])("%s is refused", async (_what, method, path, status) => {
    const { grant } = await world();
    const { baseUrl, token } = await grant();
    const answer = await fetch(`${baseUrl}${path}`, { method, headers: { "x-api-key": token } });
    expect(answer.status).toBe(status);
  });

  test("a body beyond the limit is refused before it is read to its end (RT-04)", async () => {
    const { grant } = await world();
    const { baseUrl, token } = await grant();
    const { path, headers } = ask(token, "");
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = httpRequest(`${baseUrl}${path}`, { method: "POST", headers }, (answer) => {
        resolve(answer.statusCode);
        sent.destroy();
      });
      sent.on("error", (error: NodeJS.ErrnoException) =>
        error.code === "ECONNRESET" || error.code === "EPIPE" ? undefined : reject(error),
      );
      const piece = Buffer.alloc(1024 * 1024, "a");
      const pump = () => {
        while (!sent.destroyed && sent.write(piece));
        if (!sent.destroyed) sent.once("drain", pump);
      };
      pump();
    });
    expect(status).toBe(413);
  });

  test("PROXY-2: a child that doesn't read stops the provider, and gets everything in the end (RT-04)", async () => {
    const piece = Buffer.from(`: ${"x".repeat(1020)}\n\n`.repeat(64));
    const pieces = 600;
    let written = 0;
    const provider = createServer((request, answer) => {
      request.resume();
      answer.writeHead(200, { "content-type": "text/event-stream" });
      const pump = () => {
        while (written < pieces * piece.length) {
          written += piece.length;
          if (!answer.write(piece)) {
            answer.once("drain", pump);
            return;
          }
        }
        answer.end();
      };
      pump();
    });
    await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void provider.close());
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const { grant, ledger } = await world({ models: allProviders(url) });
    const { baseUrl, token } = await grant();
    const { path, headers, body } = ask(token, "tell me");
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = httpRequest(`${baseUrl}${path}`, { method: "POST", headers }, resolve);
      sent.on("error", reject);
      sent.end(JSON.stringify(body));
    });
    answer.pause();
    let before = -1;
    let looks = 0;
    await until("the provider to be held back", async () => {
      looks = written === before ? looks + 1 : 0;
      before = written;
      return looks > 20;
    });
    // What fits into the sockets of both sides, and no more.
    expect(written).toBeLessThan((pieces * piece.length) / 2);
    let read = 0;
    for await (const part of answer) read += (part as Buffer).length;
    expect(read).toBe(pieces * piece.length);
    await until("the ledger", async () => (await ledger()).length === 1);
  });

  test.each([
    ["a page in a browser", { origin: "https://evil.example" }],
    ["another name for this machine", { host: "evil.example" }],
  ])("%s is refused, even with a good token (RT-03)", async (_what, more) => {
    const { grant } = await world();
    const { baseUrl, token } = await grant();
    const { path, headers, body } = ask(token, "say:hi");
    const status = await new Promise((resolve, reject) => {
      const sent = httpRequest(`${baseUrl}${path}`, { method: "POST", headers: { ...headers, ...more } }, (answer) =>
        resolve(answer.statusCode),
      );
      sent.on("error", reject);
      sent.end(JSON.stringify(body));
    });
    expect(status).toBe(403);
    expect(model.requests).toEqual([]);
  });

  test("which models there are can be asked, and says no more than their names", async () => {
    const { grant } = await world();
    const { baseUrl, token } = await grant();
    const answer = await fetch(`${baseUrl}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
    const { data } = (await answer.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toContain("claude-sonnet-4-5");
  });
});
