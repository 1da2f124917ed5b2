/** Scenarios of the crash sweep that pass through memory: what must hold after a kill at each of its points. */
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { type Lares, until } from "../support/index.ts";

interface MemoryScenario {
  config?: (home: string) => object;
  provoke(world: { lares: Lares }): Promise<unknown>;
  settle(world: { lares: Lares }): Promise<void>;
}

const SHELF = fileURLToPath(new URL("../../examples/plugin/shelf", import.meta.url));
const OFF = { embedder: { use: "off" } };
const factsOf = async (lares: Lares) => (await lares.rpc("memory.list", {})).facts.map((fact) => fact.text);
const fileOf = (lares: Lares, name: string) => readFileSync(join(lares.home, "agents", "main", name), "utf8");

/** A conversation is looked through by a model; the answer is in the message, since the fake model says what it is told. */
export const capturing: MemoryScenario = {
  config: () => ({ memory: { ...OFF, capture: { use: "model", everyMessages: 1, idleSeconds: 0 } } }),
  provoke: ({ lares }) => lares.chat("owner", 'say:[{"text":"Ana plays the cello","kind":"fact"}]'),
  async settle({ lares }) {
    await until("the fact to be kept", async () => (await factsOf(lares)).includes("Ana plays the cello"));
    await until("the pass to be over", async () => fileOf(lares, "MEMORY.md").includes("Ana plays the cello"));
    expect(await factsOf(lares)).toEqual(["Ana plays the cello"]);
  },
};

export const condensingFacts: MemoryScenario = {
  config: () => ({ memory: { ...OFF, capture: { use: "off" } } }),
  async provoke({ lares }) {
    const answer = '{"merge":[],"add":[{"text":"The ferry leaves at nine","kind":"fact"}],"order":[]}';
    await lares.rpc("memory.add", { text: `say:${answer}`, kind: "fact" });
    await lares.rpc("memory.condense", { idempotencyKey: "night" });
  },
  async settle({ lares }) {
    await lares.rpc("memory.condense", { idempotencyKey: "night" });
    expect((await factsOf(lares)).filter((text) => text.includes("ferry leaves at nine"))).toHaveLength(2);
    expect(fileOf(lares, "MEMORY.md")).toContain("- The ferry leaves at nine\n");
    const { condensations } = await lares.rpc("memory.condensations", {});
    expect(condensations).toHaveLength(1);
    expect(condensations[0]!.before).not.toContain("- The ferry");
    await lares.rpc("memory.condense.undo", { id: condensations[0]!.id });
    expect(await factsOf(lares)).toHaveLength(1);
    expect(fileOf(lares, "MEMORY.md")).not.toContain("- The ferry");
  },
};

export const writingFiles: MemoryScenario = {
  config: () => ({ memory: OFF }),
  provoke: ({ lares }) => lares.rpc("memory.add", { text: "The boiler is serviced by Weber" }),
  async settle({ lares }) {
    await until("the file to follow", async () => fileOf(lares, "MEMORY.md").includes("Weber"));
    await lares.rpc("memory.add", { text: "The cellar key hangs in the hall" });
    await until("the file to follow", async () => fileOf(lares, "MEMORY.md").includes("cellar key"));
    // Our own writing was not taken for a hand's: nothing is doubled, nothing forgotten.
    expect((await factsOf(lares)).sort()).toEqual([
      "The boiler is serviced by Weber",
      "The cellar key hangs in the hall",
    ]);
    expect(fileOf(lares, "MEMORY.md").match(/Weber/g)).toHaveLength(1);
  },
};

/** An embedding server of the OpenAI kind; it stays for the whole sweep. */
const embedder = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => {
    body += chunk.toString("utf8");
  });
  request.on("end", () => {
    const { input } = JSON.parse(body) as { input: string[] };
    const data = input.map((text, index) => ({
      index,
      embedding: Array.from({ length: 8 }, (_, n) => (text.length % (n + 2)) + 1),
    }));
    response.end(JSON.stringify({ data }));
  });
});
embedder.unref();
await new Promise<void>((resolve) => embedder.listen(0, "127.0.0.1", resolve));
const { port } = embedder.address() as AddressInfo;

export const embedding: MemoryScenario = {
  config: () => ({
    memory: { embedder: { use: "openai", baseUrl: `http://127.0.0.1:${port}/v1`, model: "m", dims: 8 } },
  }),
  async provoke({ lares }) {
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => lares.rpc("memory.add", { text: `drawer ${n}`, scope: "c" })),
    );
  },
  async settle({ lares }) {
    const { facts } = await lares.rpc("memory.status", {});
    await until("all vectors", async () => {
      const { vectors } = await lares.rpc("memory.status", {});
      return vectors?.state === "idle" && vectors.done === facts && vectors.total === facts;
    });
    expect((await lares.rpc("memory.search", { query: "drawer", scope: "c" })).results.length).toBeGreaterThan(0);
  },
};

/** The embedder is changed in the settings while the program runs; the new one has taken over when it dies. */
export const switching: MemoryScenario = {
  config: embedding.config,
  async provoke({ lares }) {
    for (let n = 0; n < 5; n++) await lares.rpc("memory.add", { text: `drawer ${n}`, scope: "c" });
    await until("the old vectors", async () => (await lares.rpc("memory.status", {})).vectors?.done === 5);
    await lares.rpc("config.set", { path: "memory.embedder.model", value: "n" });
    await until("the new ones to answer", async () => {
      const { vectors } = await lares.rpc("memory.status", {});
      return vectors?.model === "openai:n:8";
    });
  },
  async settle({ lares }) {
    await until("all vectors of the new embedder", async () => {
      const { vectors } = await lares.rpc("memory.status", {});
      return vectors?.model === "openai:n:8" && vectors.done === 5 && vectors.next === undefined;
    });
    expect((await lares.rpc("memory.search", { query: "drawer", scope: "c" })).results).toHaveLength(5);
  },
};

/** A plugin is a memory back end: it has what holds and nothing else, whenever Lares dies while telling it. */
export const telling: MemoryScenario = {
  config: () => ({ memory: { ...OFF, capture: { use: "off" }, plugins: { shelf: {} } } }),
  async provoke({ lares }) {
    const { digest } = await lares.rpc("plugins.stage", { from: SHELF });
    await lares.rpc("plugins.accept", { digest });
    const { id } = await lares.rpc("memory.add", { text: "Ottilie has the spare key" });
    await lares.rpc("memory.add", { text: "The piano is tuned in May" });
    // Asked over the protocol as well, so that nobody waits for a process that is gone.
    const has = async (facts: number) => (await lares.rpc("memory.status", {})) && shelved(lares).length === facts;
    await until("both facts to arrive", () => has(2), { withinMs: 20_000 });
    await lares.rpc("memory.forget", { id });
    await until("the forgetting to arrive", () => has(1), { withinMs: 20_000 });
  },
  async settle({ lares }) {
    const { facts } = await lares.rpc("memory.list", {});
    for (const { id, text } of facts) if (text.includes("Ottilie")) await lares.rpc("memory.forget", { id });
    await lares.rpc("memory.add", { text: "The piano is tuned in May" });
    await until("what it has to be what holds", () => shelved(lares).join() === "The piano is tuned in May", {
      withinMs: 20_000,
    });
    await until("nothing to be open", async () =>
      (await lares.rpc("memory.status", {})).backends.every((one) => one.waiting + one.unforgotten === 0),
    );
  },
};

function shelved(lares: Lares): string[] {
  const file = join(lares.home, "plugins/data/shelf/facts.json");
  if (!existsSync(file)) return [];
  return Object.values(JSON.parse(readFileSync(file, "utf8")) as Record<string, { text: string }>).map((f) => f.text);
}

/** A person is forgotten while facts and talk mention them; the call is cut off in the middle and made again. */
export const forgettingTopic: MemoryScenario = {
  config: () => ({ memory: { ...OFF, capture: { use: "off" } } }),
  async provoke({ lares }) {
    await lares.chat("owner", "Ottilie Krauss has the spare key");
    await lares.chat("owner", "The piano is tuned in May");
    for (const text of ["Ottilie Krauss lives next door", "Jane Krauss is a dentist"])
      await lares.rpc("memory.add", { text });
    await lares.rpc("memory.forget", { about: "ottilie krauss" });
  },
  async settle({ lares }) {
    // Half of it is done: nothing that was forgotten comes back, and the rest can still be found.
    const { said } = await lares.rpc("memory.forget", { about: "ottilie krauss", preview: true });
    expect(said).toEqual([]);
    await lares.rpc("memory.forget", { about: "ottilie krauss" });
    expect(await factsOf(lares)).toEqual(["Jane Krauss is a dentist"]);
    expect((await lares.rpc("memory.search", { query: "Ottilie", in: ["memory", "sessions"] })).results).not.toEqual(
      expect.arrayContaining([expect.objectContaining({ text: expect.stringContaining("Ottilie") })]),
    );
    await until("the file to follow", async () => !fileOf(lares, "MEMORY.md").includes("Ottilie"));
    expect((await lares.rpc("memory.search", { query: "piano", in: ["sessions"] })).results).not.toEqual([]);
  },
};
