import { describe, expect, test } from "vitest";
import type { ModelMessage } from "../../core/domain/index.ts";
import { capResults, fairShare } from "./cap.ts";
import { bounded, type Carry, carryText, gather, NO_CARRY, quoted } from "./carry.ts";
import { pieces, readSummary, transcriptLine } from "./summary.ts";
import { clip, textTokens } from "./tokens.ts";

const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] });
const agent = (text: string): ModelMessage => ({ role: "assistant", content: [{ type: "text", text }] });

describe("what rules find", () => {
  const found = gather(NO_CARRY, [
    user("My name is Ana and I live in Lisbon. What is your name?"),
    agent("I am here. The order is ORD-4711, see https://shop.example/o/4711."),
    user("Let's go with the blue one. Remind me to call +351 912 345 678 tomorrow."),
    {
      role: "assistant",
      content: [{ type: "tool-call", id: "c1", name: "edit", input: { path: "notes/plan.md", old: "a", new: "b" } }],
    },
    { role: "tool", content: [{ type: "tool-result", id: "c1", name: "edit", text: "1 change", isError: false }] },
  ]);
  test.each<[keyof Carry, RegExp]>([
    ["facts", /My name is Ana and I live in Lisbon/],
    ["decisions", /go with the blue one/],
    ["requests", /Remind me to call/],
    ["identifiers", /ORD-4711/],
    ["identifiers", /\+351 912 345 678/],
    ["files", /notes\/plan\.md/],
    ["calls", /edit .*plan\.md.* → 1 change/],
  ])("%s: %s", (list, expected) => {
    expect([found[list]].flat().join("\n")).toMatch(expected);
  });
  test("a question is no fact", () => {
    expect(found.facts.join()).not.toContain("What is your name");
  });
  test("said again it is there once, at its newest place", () => {
    const again = gather(found, [user("My cat is Io."), user("My name is Ana and I live in Lisbon.")]);
    expect(again.facts).toEqual(["My cat is Io.", "My name is Ana and I live in Lisbon."]);
  });
});

describe("bounds", () => {
  const big: Carry = {
    ...NO_CARRY,
    asked: "x".repeat(9000),
    prose: "long ".repeat(3000),
    facts: Array.from({ length: 400 }, (_, i) => `My thing ${i} is number ${i}`),
    calls: Array.from({ length: 100 }, (_, i) => `exec ${i}`),
  };
  test.each([60, 300, 1200, 6000])("never more than %i tokens; the newest stay (CONTEXT-14)", (tokens) => {
    const kept = bounded(big, tokens);
    expect(textTokens(carryText(kept))).toBeLessThanOrEqual(tokens + 30);
    if (tokens >= 300) expect(kept.facts.at(-1)).toBe("My thing 399 is number 399");
  });
  test("without a model: what was said, quoted, within its bounds (CONTEXT-13)", () => {
    const text = quoted(
      "before",
      Array.from({ length: 50 }, (_, i) => user(`sentence number ${i}`)),
      200,
    );
    expect(textTokens(text)).toBeLessThanOrEqual(200);
    expect(text).toContain("person: sentence number 49");
  });
  test("Chinese costs about a token a sign, and is cut between signs", () => {
    expect(textTokens("你好".repeat(50))).toBe(100);
    expect(textTokens(clip("你好😀".repeat(50), 20))).toBeLessThanOrEqual(20);
    expect(clip("😀".repeat(50), 10)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
  });
});

describe("a summary", () => {
  const known: Carry = { ...NO_CARRY, requests: ["old wish"], facts: ["My cat is Io"], files: ["a.md"] };
  test("its sections become lists; requests that are done go, facts stay", () => {
    const text =
      "**SUMMARY**\nThey met.\n\n## Open requests:\nnone\n\nDECISIONS\n- take the blue one\nAbout the person\n* likes tea";
    expect(readSummary(text, known)).toEqual({
      ...known,
      prose: "They met.",
      requests: [],
      decisions: ["take the blue one"],
      facts: ["My cat is Io", "likes tea"],
    });
  });
  test("plain prose is a summary, too; nothing is none", () => {
    expect(readSummary("They met.", known)).toEqual({ ...known, prose: "They met." });
    expect(readSummary("  \n", known)).toBeUndefined();
    expect(readSummary("SUMMARY\n\nDECISIONS\n- x", known)).toBeUndefined();
  });
  test("a long history is read in pieces that fit", () => {
    const messages = Array.from({ length: 30 }, (_, i) => user(`${i} ${"word ".repeat(80)}`));
    const cut = pieces(messages, 500);
    expect(cut[0]![0]).toBe(0);
    expect(cut.at(-1)![1]).toBe(30);
    cut.forEach(([from, to], i) => {
      if (i > 0) expect(from).toBe(cut[i - 1]![1]);
      const size = messages.slice(from, to).reduce((sum, m) => sum + textTokens(transcriptLine(m)), 0);
      expect(size).toBeLessThanOrEqual(500);
    });
  });
});

describe("tool results", () => {
  test("short ones keep all, long ones share the rest (CONTEXT-11)", () => {
    expect(fairShare([100, 100], 1000)).toBe(Number.POSITIVE_INFINITY);
    expect(fairShare([100, 5000, 5000], 1100)).toBe(500);
    expect(fairShare([9000], 600)).toBe(600);
  });
  test("what cannot be kept is said", async () => {
    const place = { root: "/dev/null/nowhere", dir: "out", key: "t" };
    const [one] = await capResults([{ id: "c", text: "line\n".repeat(5000) }], 300, place);
    expect(one!.text).toMatch(/couldn't be saved/);
    expect(textTokens(one!.text)).toBeLessThanOrEqual(320);
  });
});
