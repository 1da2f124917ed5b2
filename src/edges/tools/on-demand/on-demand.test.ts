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
