import { describe, expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import { chunk } from "./chunk.ts";

describe("cutting a text into messages", () => {
  test("a short text stays one message", () => {
    expect(chunk("hello", 100)).toEqual(["hello"]);
  });

  test("cuts at paragraphs, then lines, then words", () => {
    const text = `${"a".repeat(50)}\n\n${"b".repeat(50)}`;
    expect(chunk(text, 80)).toEqual(["a".repeat(50), "b".repeat(50)]);
    expect(chunk("one two three four five six", 16).every((piece) => !piece.startsWith(" "))).toBe(true);
  });

  test("a code fence that is cut is closed and opened again with its language", () => {
    const code = Array.from({ length: 40 }, (_, i) => `line ${i}`).join("\n");
    const pieces = chunk(`Look:\n\`\`\`ts\n${code}\n\`\`\`\nDone.`, 120);
    expect(pieces.length).toBeGreaterThan(2);
    for (const piece of pieces) expect(piece.split("\n").filter((line) => line.startsWith("```")).length % 2).toBe(0);
    expect(pieces[1]!.startsWith("```ts\n")).toBe(true);
  });

  test("no piece is longer than the limit and no sign is lost (property)", () => {
    const words = fc.array(
      fc.oneof(fc.string({ unit: "grapheme", maxLength: 30 }), fc.constantFrom("\n", "\n\n", " ")),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(words, fc.integer({ min: 20, max: 200 }), (parts, limit) => {
        const text = parts.join("").replaceAll("`", "'");
        const pieces = chunk(text, limit);
        const signs = (s: string) => s.replace(/\s+/g, "");
        expect(signs(pieces.join(""))).toBe(signs(text));
        for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(limit);
      }),
    );
  });
});
