import { expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import { readStepName, stepNames } from "./step-names.ts";

const count = fc.nat();
/** A tool's name has no colon; the id of a call is the provider's, and may have anything in it. */
const tool = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,20}$/);
const call = fc.string({ maxLength: 20 });

test("what a step does is read as it was written", () => {
  fc.assert(
    fc.property(fc.record({ count, tool, call, again: fc.boolean() }), (given) => {
      expect(readStepName(stepNames.model(given.count))).toEqual({ kind: "model", call: given.count });
      expect(readStepName(stepNames.tool(given.tool, given.call))).toEqual({
        kind: "tool",
        tool: given.tool,
        call: given.call,
      });
      expect(readStepName(stepNames.judge(given.count))).toEqual({ kind: "judge" });
      expect(readStepName(stepNames.judgeScript(given.call, given.again))).toEqual({ kind: "judge" });
      for (const kind of ["recheck", "replan", "after"] as const) {
        expect(readStepName(stepNames[kind](given.call))).toEqual({ kind });
      }
      for (const kind of ["compact", "compacted", "summary"] as const) {
        expect(readStepName(stepNames[kind](given.count))).toEqual({ kind });
      }
      expect(readStepName(stepNames.decide(given.count))).toEqual({ kind: "other" });
      expect(readStepName(stepNames.admit(given.count))).toEqual({ kind: "other" });
    }),
  );
  expect(readStepName(stepNames.rewind)).toEqual({ kind: "rewind" });
});

test.each(["", "now", "plan", "model", "model:", "model:x", "tool", "tool:", "modelled:1", "toString", "at work"])(
  '"%s" is the name of no work that people are shown',
  (name) => expect(readStepName(name)).toEqual({ kind: "other" }),
);

test("the stored forms never change: journals hold them", () => {
  expect([
    stepNames.model(0),
    stepNames.tool("exec", "call_1"),
    stepNames.judge(2),
    stepNames.judgeScript("c1", false),
    stepNames.judgeScript("c1", true),
    stepNames.rewind,
    stepNames.recheck("ap_1"),
    stepNames.replan("ap_1"),
    stepNames.after("call_1"),
    stepNames.compact(1),
    stepNames.compacted(1),
    stepNames.summary(0),
    stepNames.decide(12),
    stepNames.admit(12),
  ]).toEqual([
    "model:0",
    "tool:exec:call_1",
    "judge:2",
    "judge:c1",
    "judge:c1:again",
    "rewind",
    "recheck:ap_1",
    "replan:ap_1",
    "after:call_1",
    "compact:1",
    "compacted:1",
    "summary:0",
    "decide:12",
    "admit:12",
  ]);
});
