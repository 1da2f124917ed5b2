import { expect, test } from "vitest";
import { asId, type TurnId } from "../../core/domain/index.ts";
import { firstWords, type RunSituation } from "./handover.ts";

const at = (more: Partial<RunSituation>): string =>
  firstWords({ text: "Tidy up", isResumed: false, attempt: 1, before: "", events: [], said: [], answers: [], ...more });

test("a first attempt reads only the request, with the conversation before it where the runtime doesn't have that", () => {
  expect(at({})).toBe("Tidy up");
  expect(at({ before: "User: hi" })).toBe("The conversation so far:\n\nUser: hi\n\nNow:\n\nTidy up");
  expect(at({ before: "User: hi", isResumed: true })).toBe("Tidy up");
});

test("RUNS-4: the next attempt reads what was done, what isn't known, what was said and what was answered", () => {
  const words = at({
    attempt: 2,
    events: [
      { type: "tool_call", call: "1", name: "bash", input: { command: "ls" } },
      { type: "tool_result", call: "1", isError: false, text: "a b" },
      { type: "tool_call", call: "2", name: "bash", input: { command: "rm a" } },
    ],
    said: [{ message: asId<TurnId>("m"), text: "and b", authority: "owner" }],
    answers: [{ ask: "1", about: "rm a", answer: { kind: "deny", reason: "No." } }],
  });
  expect(words).toContain("check whether it already happened");
  expect(words).toMatch(/ls.*\n {2}result: a b\n.*rm a.*\n {2}The result isn't known\./);
  expect(words).toContain("and b");
  expect(words).toContain("it was denied: rm a\nNo.");
  expect(at({ attempt: 2, isResumed: true, events: [{ type: "text", text: "half" }] })).not.toContain("half");
});
