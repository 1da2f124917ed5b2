import { describe, expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import type { ModelMessage } from "../../core/domain/index.ts";
import { wellFormed } from "./well-formed.ts";

const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] });
const calls = (...ids: string[]): ModelMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool-call", id, name: "read", input: {} })),
});
const results = (...ids: string[]): ModelMessage => ({
  role: "tool",
  content: ids.map((id) => ({ type: "tool-result", id, name: "read", text: `result ${id}` })),
});

describe("any slice of history becomes acceptable", () => {
  test("a whole history is passed on as it is, the same objects", () => {
    const history = [user("a"), calls("1", "2"), results("1", "2"), user("b")];
    const out = wellFormed(history);
    expect(out).toEqual(history);
    for (const [i, m] of out.entries()) expect(m).toBe(history[i]);
  });

  test("CONTEXT-15: a call without a result gets one that says so; a partial one is completed in order", () => {
    const out = wellFormed([user("a"), calls("1", "2"), results("2"), user("b")]);
    expect(out[2]!.content).toMatchObject([
      { id: "1", isError: true },
      { id: "2", text: "result 2" },
    ]);
    expect(wellFormed([user("a"), calls("1")])).toHaveLength(3);
  });

  test("CONTEXT-16, CONTEXT-17: a window that begins in the middle begins with a user's message", () => {
    expect(wellFormed([results("1"), calls("9"), results("9"), user("b")])).toEqual([user("b")]);
  });

  test("holds for any order of messages (property)", () => {
    const one = fc.oneof(
      fc.constant(user("x")),
      fc.uniqueArray(fc.constantFrom("1", "2", "3"), { minLength: 1 }).map((ids) => calls(...ids)),
      fc.uniqueArray(fc.constantFrom("1", "2", "3"), { minLength: 1 }).map((ids) => results(...ids)),
    );
    fc.assert(
      fc.property(fc.array(one, { maxLength: 12 }), (history) => {
        const out = wellFormed(history);
        if (out.length) expect(out[0]!.role).toBe("user");
        out.forEach((m, i) => {
          const wanted = m.role === "assistant" ? m.content.flatMap((p) => (p.type === "tool-call" ? [p.id] : [])) : [];
          const next = out[i + 1];
          if (wanted.length) expect(next?.role === "tool" && next.content.map((r) => r.id)).toEqual(wanted);
          if (m.role === "tool") expect(out[i - 1]?.role).toBe("assistant");
        });
      }),
    );
  });
});
