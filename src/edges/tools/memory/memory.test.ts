import { describe, expect, it } from "vitest";
import type { Tool, ToolPlace } from "../../../core/contracts/index.ts";
import { createMemoryTools, type MemoryDesk } from "./memory.ts";

const place: ToolPlace = {
  agentDir: "/a",
  workspace: "/a/workspace",
  spillDir: "/a/spill",
  caller: { agent: "main", session: "s", turn: "t", route: { channel: "web", account: "a", chat: "c" } },
};
const signal = new AbortController().signal;

function tools() {
  const asked: unknown[] = [];
  const desk: MemoryDesk = {
    async save(memory) {
      asked.push(memory);
      return { id: "mem_1", state: memory.text.includes("stranger") ? "pending" : "live" };
    },
    async search(query) {
      asked.push(query);
      return query.query === "nothing"
        ? []
        : [
            {
              id: "mem_1",
              text: "tea, no sugar",
              source: "/n/a.md",
              place: "lines 1-2",
              at: 0,
              origin: "own" as const,
            },
          ];
    },
    async forget(memory) {
      asked.push(memory);
      return memory.id === "mem_1";
    },
  };
  const [save, search, forget] = createMemoryTools(desk) as [Tool, Tool, Tool];
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
    expect((await save.run({ text: "likes tea" }, place, "key-1", signal)).text).toBe("saved (mem_1)");
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
      "waits until a person agrees",
    );
    expect((await search.run({ query: "nothing" }, place, "k", signal)).text).toBe("nothing found");
    expect(await forget.run({ id: "mem_9" }, place, "k", signal)).toMatchObject({ isError: true });
  });
});
