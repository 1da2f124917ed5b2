import { describe, expect, it } from "vitest";
import type { Tool, ToolPlace } from "../../../core/contracts/index.ts";
import type { JsonObject } from "../../../core/domain/index.ts";
import { createMemoryTools, type MemoryPort } from "./memory.ts";

const place: ToolPlace = {
  agentDir: "/a",
  workspace: "/a/workspace",
  spillDir: "/a/spill",
  caller: { agent: "main", session: "s", turn: "t", route: { channel: "web", account: "a", chat: "c" } },
};
const NONE = { facts: 0, said: 0 };
const signal = new AbortController().signal;

function tools() {
  const asked: unknown[] = [];
  const port: MemoryPort = {
    async save(memory) {
      asked.push(memory);
      const near = memory.text.includes("coffee")
        ? [{ id: "mem_1", text: "likes tea", origin: memory.text.includes("visitor") ? "outside" : "own" } as const]
        : [];
      return { id: "mem_1", state: memory.text.includes("stranger") ? "pending" : "live", near, replaced: [] };
    },
    readEnd: async ({ until }) => ({
      at: Date.parse(until.length === 10 ? `${until}T23:59:59.999Z` : until),
      words: until,
      isOver: Date.parse(until) < Date.parse("2026-01-01"),
    }),
    findText: async ({ id }) => (id === "mem_1" ? "likes tea" : undefined),
    about: async ({ about }) => ({
      facts: [{ id: "mem_1", text: "likes tea" }],
      said: [{ text: "I like tea" }],
      names: [],
      similar: [],
      topics: about.map((one) => ({ about: one, again: one, ...(one === "zed" ? NONE : { facts: 1, said: 1 }) })),
    }),
    async forgetAbout(topic) {
      asked.push(topic);
      return {
        facts: [{ id: "mem_1", text: "likes tea" }],
        said: [{ text: "I like tea" }],
        names: [],
        similar: [],
        topics: topic.about.map((one) => ({
          about: one,
          again: one,
          ...(one === "zed" ? NONE : { facts: 1, said: 1 }),
        })),
      };
    },
    async search(query) {
      asked.push(query);
      const hits =
        query.query === "nothing"
          ? []
          : [
              {
                id: "mem_1",
                text: "tea, no sugar",
                source: "/n/a.md",
                place: "lines 1-2",
                day: "1970-01-01",
                origin: "own" as const,
              },
            ];
      return { hits, missing: [] };
    },
    async forget(memory) {
      asked.push(memory);
      return memory.id === "mem_1";
    },
  };
  const [save, search, forget] = createMemoryTools(port) as [Tool, Tool, Tool];
  return { save, search, forget, asked };
}

describe("the memory tools", () => {
  it("change memory only through a plan that says so, and the gate sees the words (I12)", async () => {
    const { save, search, forget } = tools();
    expect(await save.plan({ text: "likes tea", kind: "preference" }, place)).toMatchObject({
      risk: "state",
      changes: "memory",
      shown: "Remember (preference): likes tea",
    });
    expect(await forget.plan({ id: "mem_1" }, place)).toMatchObject({ risk: "state", changes: "memory" });
    expect(await search.plan({ query: "tea" }, place)).toMatchObject({ risk: "read" });
  });

  it("hand the caller on, so that the model cannot choose whose memory it is", async () => {
    const { save, search, forget, asked } = tools();
    expect((await save.run({ text: "likes tea" }, place, "key-1", signal)).text).toBe("Saved (mem_1)");
    expect((await search.run({ query: "tea" }, place, "k", signal)).text).toBe(
      "mem_1 1970-01-01 [/n/a.md, lines 1-2]: tea, no sugar",
    );
    await forget.run({ id: "mem_1" }, place, "k", signal);
    expect(asked).toEqual([
      { key: "key-1", text: "likes tea", caller: place.caller },
      { query: "tea", caller: place.caller },
      { id: "mem_1", caller: place.caller },
    ]);
    await expect(save.plan({ text: "x", scope: "shared" }, place)).rejects.toMatchObject({ code: "TOOL_INPUT" });
  });

  it("say plainly what waits, what is not there and what was not found", async () => {
    const { save, search, forget } = tools();
    expect((await save.run({ text: "a stranger says" }, place, "k", signal)).text).toContain(
      "Waiting for a person to agree",
    );
    expect((await search.run({ query: "nothing" }, place, "k", signal)).text).toBe(
      "Nothing found. Try other words; if that finds nothing either, say you don't know.",
    );
    expect(await forget.run({ id: "mem_9" }, place, "k", signal)).toMatchObject({ isError: true });
  });

  it("show the words that go or are replaced, never an id alone", async () => {
    const { save, forget, asked } = tools();
    expect(await forget.plan({ id: "mem_1" }, place)).toMatchObject({ shown: "Forget: likes tea" });
    expect(await save.plan({ text: "likes coffee", replaces: "mem_1", until: "2027-01-31" }, place)).toMatchObject({
      shown: "Remember until 2027-01-31: likes coffee\nInstead of: likes tea",
      adds: true,
    });
    await expect(save.plan({ text: "x", replaces: "mem_9" }, place)).rejects.toMatchObject({ code: "TOOL_INPUT" });
    const all = await forget.plan({ about: "tea" }, place);
    expect(all.shown).toBe("Forget everything about tea: 1 fact, 1 past message.\n- likes tea\n- said: I like tea");
    expect((await forget.run({ about: "tea" }, place, "k", signal)).text).toContain("Forgotten: 1 fact, ");
    expect(asked).toEqual([{ about: ["tea"], caller: place.caller }]);
    const two = await forget.plan({ about: ["tea", "zed"] }, place);
    expect(two.shown).toMatch(
      /^Forget everything about tea, zed: 1 fact, 1 past message\.\ntea: 1 fact, 1 past message\.\nNothing found about zed\.\n/,
    );
    expect((await forget.run({ about: ["tea", "zed"] }, place, "k", signal)).text).toContain(
      "Nothing found about zed.",
    );
    for (const input of [{}, { id: "mem_1", about: "tea" }] as JsonObject[])
      await expect(forget.plan(input, place)).rejects.toMatchObject({ code: "TOOL_INPUT" });
    // Nobody is asked about a memory that isn't there.
    await expect(forget.plan({ id: "mem_9" }, place)).rejects.toMatchObject({
      code: "TOOL_INPUT",
      message: "memory_forget: There is no memory mem_9 here.",
    });
  });

  it("say which facts are near, whose words they are, and when it ends", async () => {
    const { save, asked } = tools();
    const own = await save.run({ text: "likes coffee", replaces: "mem_1", until: "2027-01-31" }, place, "k", signal);
    expect(own).toMatchObject({ text: "Saved (mem_1)\nSimilar:\nmem_1: likes tea", origin: "own" });
    expect(asked[0]).toMatchObject({ replaces: "mem_1", expiresAt: Date.parse("2027-01-31T23:59:59.999Z") });
    expect(await save.run({ text: "a visitor likes coffee" }, place, "k", signal)).toMatchObject({ origin: "outside" });
  });
});
