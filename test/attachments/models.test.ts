/** Pictures over the four wire protocols, against the scripted model server over real HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Models } from "../../src/core/contracts/index.ts";
import type { ModelMessage } from "../../src/core/domain/index.ts";
import { silentLog, systemClock } from "../../src/core/kit/index.ts";
import { createModels, modelsConfig } from "../../src/edges/models/index.ts";
import { answered, PROTOCOLS, run } from "../../src/edges/models/testing.ts";
import { directiveScript, type ModelServer, type NormalPart, startModelServer } from "../fakes/model-server/index.ts";
import { PNG } from "./support.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.reset();
  server.use(directiveScript());
});

const lastParts = (): NormalPart[] => server.requests.at(-1)!.messages.flatMap((message) => message.parts);
const pictures = () => lastParts().flatMap((part) => (part.type === "image" ? [part] : []));
const said = (text: string, ...ids: string[]): ModelMessage => ({
  role: "user",
  content: [
    { type: "text", text },
    ...ids.map((id) => ({ type: "image" as const, attachment: id, mediaType: "image/png", name: `${id}.png` })),
  ],
});

describe.each(PROTOCOLS)("$api", ({ api, model }) => {
  let loads: string[];
  let files: Map<string, Uint8Array>;
  function setup(facts: Record<string, unknown> = {}): Models {
    loads = [];
    files = new Map([["cat", PNG]]);
    const provider = { api, baseUrl: server.url, keys: ["key-number-one"], models: { [model]: facts } };
    return createModels(modelsConfig.parse({ default: `p/${model}`, providers: { p: provider } }), {
      env: {},
      clock: systemClock,
      log: silentLog,
      loadAttachment: async (id) => {
        loads.push(id);
        const bytes = files.get(id);
        return bytes && { bytes, mediaType: "image/png" };
      },
    });
  }

  it("sends the picture's bytes beside the words, read when the call is made", async () => {
    const models = setup();
    const message = said("say:a cat", "cat");
    expect(answered((await run(models, { messages: [message] })).reply).content).toEqual([
      { type: "text", text: "a cat" },
    ]);
    expect(pictures()).toEqual([{ type: "image", mediaType: "image/png", data: PNG.toString("base64") }]);
    await run(models, { messages: [message] });
    expect(pictures()).toHaveLength(1);
    expect(loads).toEqual(["cat", "cat"]);
  });

  it("puts a line in the place of one that is gone (WIRE-7)", async () => {
    answered((await run(setup(), { messages: [said("say:hm", "dog")] })).reply);
    expect(pictures()).toEqual([]);
    expect(lastParts()).toContainEqual({ type: "text", text: "[Picture dog.png: no longer here]" });
  });

  it("puts a line in its place for a model that is configured not to see", async () => {
    answered((await run(setup({ images: false }), { messages: [said("say:hm", "cat")] })).reply);
    expect(pictures()).toEqual([]);
    expect(loads).toEqual([]);
    expect(lastParts()).toContainEqual({ type: "text", text: "[Picture cat.png: this model cannot see pictures]" });
  });

  it("shows a picture that came with a tool's result, and says so in words to a model that cannot see", async () => {
    const image = { type: "image" as const, attachment: "cat", mediaType: "image/png", name: "cat.png" };
    const messages: ModelMessage[] = [
      said("say:I see a cat"),
      { role: "assistant", content: [{ type: "tool-call", id: "call_1", name: "read", input: { path: "cat.png" } }] },
      {
        role: "tool",
        content: [{ type: "tool-result", id: "call_1", name: "read", text: "[cat.png is an image]", images: [image] }],
      },
    ];
    answered((await run(setup(), { messages })).reply);
    const result = lastParts().find((part) => part.type === "tool-result");
    const inside = result?.type === "tool-result" ? (result.images ?? []) : [];
    const beside = pictures().map(({ mediaType, data }) => ({ mediaType, data }));
    expect([...inside, ...beside]).toEqual([{ mediaType: "image/png", data: PNG.toString("base64") }]);
    // Chat Completions has no place for it in the result.
    expect(inside).toHaveLength(api === "openai-chat" ? 0 : 1);
    expect(result).toMatchObject({ text: "[cat.png is an image]" });

    answered((await run(setup({ images: false }), { messages })).reply);
    expect(JSON.stringify(lastParts())).not.toContain(PNG.toString("base64"));
    expect(lastParts().find((part) => part.type === "tool-result")).toMatchObject({
      text: "[cat.png is an image]\n[Picture cat.png: this model cannot see pictures]",
    });
    expect(server.requests.at(-1)!.messages.at(-1)!.role).toBe("tool");
  });

  it("leaves out what the provider would refuse, the newest pictures first", async () => {
    const models = setup();
    files.set("huge", new Uint8Array(19 * 1_048_576));
    const many = Array.from({ length: 21 }, (_, i) => `n${i}`);
    for (const id of many) files.set(id, PNG);
    const messages: ModelMessage[] = [said("look", "huge", "cat"), ...many.map((id) => said(`say:${id}`, id))];
    answered((await run(models, { messages })).reply);
    expect(pictures()).toHaveLength(20);
    const texts = lastParts().flatMap((part) => (part.type === "text" ? [part.text] : []));
    expect(texts.filter((text) => /^\[Picture huge\.png: (too large|left out)/.test(text))).toHaveLength(1);
    expect(texts).toContain("[Picture cat.png: left out, newer pictures took the room]");
    expect(texts).toContain("[Picture n0.png: left out, newer pictures took the room]");
  });
});
