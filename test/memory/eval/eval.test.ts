/** Guards what search finds: our own set, words only, so that it takes seconds. The whole evaluation is `npm run eval:memory`. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { WEIGHTS } from "../../../src/mind/memory/index.ts";
import { openMemory, removeDir } from "../support.ts";
import { evalSet } from "./set.ts";

const set = evalSet.parse(JSON.parse(readFileSync(fileURLToPath(new URL("set.json", import.meta.url)), "utf8")));
const KEYWORD = {
  ...WEIGHTS,
  near: 0,
  wide: 0,
  speaker: 0,
  time: 0,
  days: 0,
  asking: 0,
  short: 0,
  lengthShare: 0.75,
};

describe("the evaluation set", () => {
  it("repeats nothing, and asks for one to five places of what was said", () => {
    const texts = set.conversations.flatMap((c) => c.messages.map(({ text }) => text)).filter((t) => t.length > 40);
    expect(new Set(texts).size).toBe(texts.length);
    const blind = set.conversations.filter(({ part }) => part === "blind").flatMap((c) => c.questions);
    for (const places of [1, 2, 3, 4, 5])
      expect(blind.filter(({ evidence }) => evidence.length === places).length).toBeGreaterThanOrEqual(3);
    for (const conversation of set.conversations) {
      const ids = new Set(conversation.messages.map((message) => message.id));
      for (const question of conversation.questions) {
        expect(question.evidence.filter((id) => !ids.has(id))).toEqual([]);
      }
    }
  });
});

describe("without vectors", () => {
  it("most of the evidence is among the first ten, far more than by keywords, also in one store", async () => {
    const { dir, memory, close } = await openMemory();
    for (const { id: scope, messages } of set.conversations) {
      const all = messages.map(({ id, speaker, text, at }) => ({
        text: `${speaker}: ${text}`,
        source: id.replace(/\/\d+$/, ""),
        at: Date.parse(at),
        scope,
      }));
      await Promise.all(all.map((message) => memory.add(message)));
    }
    const apart = await recall(memory, true);
    const together = await recall(memory, false);
    await close();
    const keyword = await openMemory({ dir, weights: KEYWORD });
    const plain = await recall(keyword.memory, true);
    await keyword.close();
    removeDir(dir);
    // Both parts together, a little below what was measured (docs/MEMORY.md): 80.5 and 78.1.
    expect(apart).toBeGreaterThan(0.78);
    expect(together).toBeGreaterThan(0.75);
    expect(apart).toBeGreaterThan(plain + 0.1);
  });
});

async function recall(memory: Awaited<ReturnType<typeof openMemory>>["memory"], apart: boolean): Promise<number> {
  let sum = 0;
  let questions = 0;
  for (const { id, messages, questions: asked } of set.conversations) {
    const said = new Map(messages.map((m) => [`${m.speaker}: ${m.text}\n${Date.parse(m.at)}`, m.id]));
    for (const { question, evidence } of asked) {
      const found = await memory.search({ query: question, limit: 10, ...(apart ? { scope: id } : {}) });
      const ids = new Set(found.map((hit) => said.get(`${hit.text}\n${hit.at}`)));
      sum += evidence.filter((wanted) => ids.has(wanted)).length / evidence.length;
      questions++;
    }
  }
  return sum / questions;
}
