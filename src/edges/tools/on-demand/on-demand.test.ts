import { describe, expect, test } from "vitest";
import type { Tool } from "../../../core/contracts/index.ts";
import { never, scene } from "../testing.ts";
import { createOnDemandTools } from "./on-demand.ts";

const inner: Tool = {
  spec: {
    name: "kettle",
    description: "Boil water.",
    input: { type: "object", properties: { cups: { type: "number" } } },
  },
  repeat: "never",
  plan: async (input) => ({ tool: "kettle", risk: "state", targets: ["kitchen"], shown: "Boil.", binding: { input } }),
  run: async (input) => ({ text: `boiled ${JSON.stringify(input)}` }),
};

describe("rarely used tools", () => {
  const [search, run] = createOnDemandTools({ onDemand: [inner] }) as [Tool, Tool];

  test("are found by a word and shown with how to call them", async () => {
    const place = await scene();
    const found = await search.run({ query: "water please" }, place, "k", never);
    expect(found.text).toContain('kettle: Boil water. {"type":"object"');
  });

  test("those that fit more of the words stand first, from any server, and daily ones cost a name", async () => {
    const named = (name: string, description: string): Tool => ({
      ...inner,
      spec: { ...inner.spec, name, description },
    });
    const echo = named("evil__echo", "Echoes text.");
    const served = {
      servers: () => ["evil"],
      pinned: () => [],
      get: () => undefined,
      list: async () => ({ tools: [{ server: "evil", tool: echo }], isSeen: true }),
    };
    const onDemand = [named("notes", "Write text into the context of a note."), inner];
    const also = [named("write", "Write text to a file."), named("read", "Read a file.")];
    const [find] = createOnDemandTools({ onDemand, also, served }) as [Tool];
    const look = async (query: string) => (await find.run({ query }, await scene(), "k", never)).text.split("\n");
    expect((await look("echo text")).map((line) => line.split(/[: ]/)[0])).toEqual(["evil__echo", "notes", "Search"]);
    expect((await look("echo text")).at(-1)).toContain("if you don't have it: write");
    // One that is asked for by name, or that is all there is, is shown in full.
    expect((await look("write text")).join("\n")).toMatch(/^write: Write text to a file\. \{/m);
    expect((await look("file")).join("\n")).toMatch(/^read: Read a file\. \{/m);
  });

  test("are judged under their own name (TOOLS-1), and run with their own input", async () => {
    const place = await scene();
    const call = { name: "kettle", input: { cups: 2 } };
    expect(await run.plan(call, place)).toMatchObject({ tool: "kettle", risk: "state", targets: ["kitchen"] });
    expect(await run.run(call, place, "k", never)).toEqual({ text: 'boiled {"cups":2}', origin: "outside" });
  });

  test("an unknown one is refused with the nearest name, before anything is asked", async () => {
    const place = await scene();
    await expect(run.plan({ name: "ketle" }, place)).rejects.toMatchObject({
      code: "TOOL_INPUT",
      hint: 'Did you mean "kettle"?',
    });
  });

  test("one of unknown outcome is not repeated", async () => {
    expect(await run.probe!({ name: "kettle" }, await scene(), "k", { sameBoot: true, signal: never })).toBeUndefined();
  });
});
