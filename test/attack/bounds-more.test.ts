/** Bounds of what others answer and ask, beside those in bounds.test.ts: bodies of platforms and embedders, questions for a person. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { callApi } from "../../src/edges/channels/api.ts";
import { RemoteEmbedder } from "../../src/edges/embedder/remote.ts";
import { openDatabase } from "../../src/ground/records/index.ts";
import { startLares, startModel, toolResults, until } from "../support/index.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const MB = 1_048_576;

/** Answers every request with spaces for ever; `sent`: how many bytes were taken. */
async function endless(): Promise<{ url: string; sent: () => number }> {
  let sent = 0;
  const chunk = Buffer.alloc(MB, 0x20);
  const server: Server = createServer((request, response) => {
    request.resume();
    response.on("error", () => {});
    response.writeHead(200, { "content-type": "application/json" });
    const more = () => {
      while (!response.destroyed && sent < 2048 * MB) {
        sent += chunk.length;
        if (!response.write(chunk)) return;
      }
    };
    response.on("drain", more);
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent: () => sent };
}

describe("answers without an end", () => {
  test("a platform's is given up after 32 MB", async () => {
    const far = await endless();
    const call = callApi({ method: "GET", url: far.url, reads: true }, "the platform", new AbortController().signal);
    await expect(call).rejects.toThrow();
    expect(far.sent()).toBeLessThan(64 * MB);
  });

  test("an embedder's is given up after 32 MB, with a sentence", async () => {
    const far = await endless();
    const embedder = new RemoteEmbedder({ kind: "ollama", baseUrl: far.url, model: "m", dims: 3 });
    const made = embedder.embed(["hello"], new AbortController().signal);
    await expect(made).rejects.toThrow("The embedding server for m failed: the answer is larger than 32768 kB.");
    expect(far.sent()).toBeLessThan(64 * MB);
  });
});

describe("questions for a person", () => {
  test("one reply asks at most eight, and the model reads what became of the others", async () => {
    const model = await startModel();
    closing.push(() => model.close());
    const lares = await startLares({
      env: model.env,
      config: { policy: { mode: "ask" }, gateway: { http: { wait: 1 } } },
    });
    closing.push(() => lares.dispose());
    model.use((request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: "done" }
        : {
            toolCalls: Array.from({ length: 30 }, (_, i) => ({ name: "exec", input: { command: `touch file-${i}` } })),
          },
    );
    await lares.chat("owner", "go");
    await until("the questions", async () => (await lares.rpc("approvals.list", {})).approvals.length > 0);
    expect((await lares.rpc("approvals.list", {})).approvals).toHaveLength(8);
    const { approvals } = await lares.rpc("approvals.list", {});
    for (const { id } of approvals) await lares.rpc("approvals.resolve", { id, decision: "deny" });
    await until("the model to read it", () => model.requests.some((one) => toolResults(one).length === 30));
    const results = toolResults(model.requests.find((one) => toolResults(one).length === 30)!);
    const unasked = results.filter(({ text }) => text.includes("one reply can put at most 8 questions to a person"));
    expect(unasked).toHaveLength(22);
    expect(unasked.every(({ isError }) => isError)).toBe(true);
  }, 60_000);
});

describe("conversations of one token", () => {
  test("a thousand a day may be begun; what is there goes on, and the owner isn't counted", async () => {
    const model = await startModel();
    closing.push(() => model.close());
    const lares = await startLares({ env: model.env });
    closing.push(() => lares.dispose());
    const { id, token } = await lares.rpc("tokens.create", { name: "program", scopes: ["write"] });
    const chat = (user: string) =>
      lares.request("POST", "/chat", {
        body: { user_id: user, message: "say:hello" },
        headers: { authorization: `Bearer ${token}` },
      });
    const first = await chat("first");
    expect(first).toMatchObject({ status: 200 });
    const prefix = String(first.json.session).replace(/first$/, "");
    expect(prefix).toContain(id);
    await lares.stop();
    const db = await openDatabase(join(lares.home, "lares.db"));
    const add = db.prepare(
      "INSERT INTO session (key, agent, person, created_at, updated_at, brief) SELECT ?, agent, person, created_at, updated_at, 0 FROM session LIMIT 1",
    );
    for (let i = 0; i < 999; i++) add.run(`${prefix}made-up-${i}`);
    db.close();
    await lares.start();
    const refused = await chat("one more");
    expect(refused.status).toBe(429);
    expect(refused.text).toContain("1000 new conversations were started from here within a day");
    expect((await chat("first")).status).toBe(200);
    expect((await lares.chat("of the owner", "say:hello")).response).toBe("hello");
  }, 60_000);
});
