import { expect, test } from "vitest";
import type { Json } from "../../core/domain/index.ts";
import { describeStep } from "./step-outcome.ts";

const reply = (over: Record<string, Json>): Json => ({
  reply: { ok: true, model: "m", practice: false, content: [], finish: "stop", notice: null, ms: 1, ...over },
});
const outcomeOf = (payload: Json) => describeStep({ kind: "step", name: "model:0", state: "done", payload: payload });

test("a model call that said nothing is no success, nor is one that declined", () => {
  expect(outcomeOf(reply({}))).toMatchObject({ outcome: "failed", reason: "The model gave an empty answer." });
  expect(outcomeOf(reply({ content: [{ type: "thinking", text: "hm" }] })).outcome).toBe("failed");
  expect(outcomeOf(reply({ content: [{ type: "text", text: "No." }], finish: "refusal" })).outcome).toBe("denied");
  expect(outcomeOf(reply({ content: [{ type: "text", text: "Yes." }] })).outcome).toBe("ok");
  expect(outcomeOf(reply({ content: [{ type: "tool-call", id: "c", name: "exec", input: {} }] })).outcome).toBe("ok");
});

test("the reason for a failed command is its code and its last words, not by our line about its end", () => {
  const ended = (text: string) =>
    describeStep({
      kind: "step",
      name: "tool:exec:c1",
      state: "done",
      payload: { text, isError: true, meta: { exit: 2 } },
    });
  expect(ended("ls: cannot access 'x'\n[exit 2, 0.1 s]")).toMatchObject({ exit: 2, reason: "ls: cannot access 'x'" });
  expect(ended("[exit 2, 0.1 s]")).not.toHaveProperty("reason");
});
