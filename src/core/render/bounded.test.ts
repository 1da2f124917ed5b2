import { describe, expect, test } from "vitest";
import { boundedChunks, MOST_CHARACTERS, MOST_PARTS } from "./bounded.ts";
import { chunks, DIALECTS, length } from "./index.ts";

const NOTE = /too many to send here\. The middle is left out/;
const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i} of it`).join("\n");

describe.each(DIALECTS)("%s", (name) => {
  test("an answer that fits is sent as it is (RENDER-5)", () => {
    const text = `# Title\n\n${lines(50)}`;
    expect(boundedChunks(text, name, { most: 60 })).toEqual(chunks(text, name));
  });

  test("a longer one has its beginning, one note and its end, within the limit (RENDER-5)", () => {
    const parts = boundedChunks(`${lines(20_000)}\n\nReply yes AB12.`, name, { limit: 300, unit: "bytes" });
    const shown = parts.map((part) => part.html ?? part.text);
    expect(parts).toHaveLength(MOST_PARTS);
    expect(shown[0]).toContain("line 0 of it");
    expect(parts.filter((part) => NOTE.test(part.text))).toHaveLength(1);
    expect(shown.at(-1)).toContain("Reply yes AB12.");
    for (const part of parts) expect(length(part.text, "bytes")).toBeLessThanOrEqual(300);
  });
});

test("nothing is sent twice when an answer is only just too long", () => {
  const text = lines(4000).slice(0, MOST_CHARACTERS + 1);
  const sent = boundedChunks(text, "email")
    .map((part) => part.text)
    .join("\n");
  const numbers = [...sent.matchAll(/line (\d+) of/g)].map((found) => Number(found[1]));
  expect(numbers.length).toBeGreaterThan(1000);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test("the end of a code block is still code", () => {
  const text = `Look:\n\n\`\`\`ts\n${lines(20_000)}\n\`\`\`\n\nDone.`;
  const last = boundedChunks(text, "discord").at(-1)!.text;
  expect(last).toMatch(/^```ts\nline [\s\S]*\n```\n\nDone\.$/);
});

test("what renders to nothing isn't counted", () => {
  expect(boundedChunks("\n".repeat(1000), "irc")).toEqual([]);
});
