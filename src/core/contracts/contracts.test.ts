import { expect, test } from "vitest";
import { pretend } from "../../../test/support/pretend.ts";
import { type AccountPolicy, failed, findGroup, resultOrigin } from "./index.ts";

test("a group has its own line, or that of all others; without a policy it has none", () => {
  const own = { allow: ["7"], mention: true };
  const others = { allow: [], mention: false };
  const policy = pretend<AccountPolicy>({ groups: { g: own, "*": others } });
  expect([findGroup(policy, "g"), findGroup(policy, "h"), findGroup(undefined, "g")]).toEqual([own, others, undefined]);
});

test.each([
  ["what the result says itself", { origin: "own" }, "own"],
  ["what the tool declares for results", {}, "own"],
  ["what the tool declares for failures", { isError: true }, "outside"],
] as const)("words are from outside unless %s is otherwise", (_what, said, origin) => {
  expect(resultOrigin({ words: { result: "own", failure: "outside" } }, said)).toBe(origin);
  expect(resultOrigin(undefined, {})).toBe("outside");
});

test("behind quoted lines a failure's hint gets its own line", () => {
  expect(failed({ message: "No.", hint: "Try b." }).text).toBe("No. Try b.");
  expect(failed({ message: "No:\n> a", hint: "Try b." }).text).toBe("No:\n> a\nTry b.");
});
