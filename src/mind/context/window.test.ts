import { describe, expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import { cutAt, shareOut } from "./window.ts";

type Role = "user" | "assistant" | "tool";
const say = (...roles: Role[]) => roles.map((role) => ({ role, tokens: 100 }));
const keep = (tokens: number, messages = 1000) => ({ tokens, messages });

describe("where a window is cut", () => {
  const talk = say("user", "assistant", "user", "assistant", "user", "assistant", "user", "assistant");
  test.each([
    ["what stays fits", 450, 4],
    ["the two newest exchanges stay, however little may", 10, 4],
    ["no more goes than must", 650, 2],
  ])("%s", (_what, tokens, cut) => {
    expect(cutAt(talk, keep(tokens))).toBe(cut);
  });

  test("by number of messages, when they are short", () => {
    expect(cutAt(talk, keep(10_000, 4))).toBe(4);
  });

  test("nothing can go from a conversation of one exchange", () => {
    expect(cutAt(say("user", "assistant"), keep(10))).toBe(0);
  });

  test("when nothing else helps all of it goes before a new message", () => {
    const hard = { most: 50, more: true };
    expect(cutAt(say("user", "assistant", "user"), keep(50), hard)).toBe(3);
  });

  test("a turn that fills the window by itself is cut between two of its calls, the newest results stay (CONTEXT-19)", () => {
    const turn = say("user", "assistant", "tool", "assistant", "tool", "assistant", "tool");
    expect(cutAt(turn, keep(450), { most: 450, more: false })).toBe(3);
    expect(cutAt(turn, keep(10), { most: 10, more: false })).toBe(5);
    expect(cutAt(say("user", "assistant", "tool"), keep(10), { most: 10, more: false })).toBe(0);
  });

  test("never between a call and its results (property) (CONTEXT-18)", () => {
    const exchange = fc.oneof(
      fc.constant<Role[]>(["user", "assistant"]),
      fc
        .integer({ min: 1, max: 5 })
        .map((n): Role[] => ["user", ...Array<Role[]>(n).fill(["assistant", "tool"]).flat()]),
    );
    const sizes = fc.integer({ min: 1, max: 500 });
    fc.assert(
      fc.property(fc.array(exchange, { maxLength: 8 }), sizes, sizes, fc.boolean(), (parts, tokens, most, more) => {
        const messages = say(...parts.flat());
        for (const cut of [cutAt(messages, keep(tokens)), cutAt(messages, keep(tokens), { most, more })]) {
          expect(cut).toBeGreaterThanOrEqual(0);
          expect(cut).toBeLessThanOrEqual(messages.length);
          expect(messages[cut]?.role).not.toBe("tool");
        }
      }),
    );
  });
});

describe("how a window is shared out", () => {
  const of = (window: number) =>
    shareOut({ window, threshold: 0.75, maxTokens: 256_000, prefix: 1800, snapshotTokens: 400, maxMessages: 400 });
  test.each([4096, 8192, 32_768, 200_000, 1_000_000])("a window of %i leaves room to grow", (window) => {
    const { threshold, carry, snapshot, keep: stays, limit } = of(window);
    const after = 1800 + carry + snapshot + stays;
    expect(after).toBeLessThan(threshold);
    // Enough for some turns before it is compacted again.
    expect(threshold - after).toBeGreaterThan((threshold - 1800) * 0.3);
    expect(threshold).toBeLessThan(limit);
    expect(limit).toBeLessThan(window);
  });
  test("a large window is not filled only because it is there", () => {
    expect(of(1_000_000).threshold).toBe(256_000);
    expect(of(200_000).threshold).toBe(150_000);
  });
});
