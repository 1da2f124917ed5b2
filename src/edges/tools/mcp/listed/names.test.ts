import { expect, test } from "vitest";
import { isListed, toolName } from "./names.ts";

const LONG = "x".repeat(128);

test("every pair of server and tool has one name of its own, the same every time (MC-03, MCP-1, MCP-2, MCP-3)", () => {
  const pairs: [string, string][] = [
    ...[
      ["a", "b"],
      ["a", "b_c"],
      ["a_b", "c"],
      ["a", "b.c"],
      ["a", "b-c"],
      ["a", "b/c"],
    ],
    ...[
      ["a", LONG],
      ["a", `${LONG.slice(1)}y`],
      ["a", "b__c"],
      ["a__b", "c"],
      ["a", "exec"],
      ["tool", "run"],
      ["a", "ü"],
    ],
  ] as [string, string][];
  const names = pairs.map(([server, tool]) => toolName(server, tool));
  expect(new Set(names).size).toBe(pairs.length);
  for (const [n, name] of names.entries()) {
    expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(name.startsWith(pairs[n]![0])).toBe(true);
  }
  expect(names.slice(0, 2)).toEqual(["a__b", "a__b_c"]);
  // Written down: a name that changed between versions would lose its approvals.
  expect(toolName("a", "b.c")).toBe("a__b_c_3ea3bbb6");
  expect(names).not.toContain("exec");
  expect(names).not.toContain("tool_run");
});

test.each([
  [["get_*"], "get_issue", true],
  [["get_*"], "get_", true],
  [["get_*"], "forget_x", false],
  [["*"], "anything", true],
  [["*_issue"], "get_issue", true],
  [["a*b*c"], "axxbxxc", true],
  [["a*b*c"], "acb", false],
  [["ab*bc"], "abc", false],
  [["get.issue"], "getxissue", false],
  [[], "x", false],
])("%j lists %s: %s", (patterns, tool, expected) => {
  expect(isListed(patterns, tool)).toBe(expected);
});
