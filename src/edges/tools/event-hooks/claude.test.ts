import { describe, expect, test } from "vitest";
import type { HookPayload } from "../../../core/contracts/index.ts";
import { claudeAnswer, claudeInput, findEvent, matches } from "./claude.ts";

const end = (out: string, code = 0, errors = "") => ({ out, code, errors });
const json = (value: unknown) => end(JSON.stringify(value));

test.each([
  ["Bash", "exec", true],
  ["Bash", "read", false],
  ["Edit|Write", "write", true],
  ["Edit|MultiEdit|Write", "apply_patch", true],
  ["exec", "exec", true],
  ["mcp__github__.*", "github__create_issue", true],
  ["mcp__.*__delete.*", "github__delete_repo", true],
  ["mcp__memory__.*", "github__create_issue", false],
  ["*", "anything", true],
  ["", "anything", true],
  ["^Bash$", "exec", true],
  ["Ba", "exec", false],
])("matcher %j means %s: %s", (matcher, tool, isMeant) => {
  expect(matches(matcher, tool)).toBe(isMeant);
});

test("their events are ours; our own names work, too; others are not known", () => {
  expect(findEvent("PreToolUse")?.event).toBe("tool.planned");
  expect(findEvent("tool.planned")?.event).toBe("tool.planned");
  expect(findEvent("PreCompact")).toBeUndefined();
  expect(findEvent("constructor")).toBeUndefined();
});

test("a program reads the fields it knows from Claude Code, and ours below them", () => {
  const payload: HookPayload = {
    ...{ event: "tool.planned", id: "i", at: 1, agent: "main", session: "s", turn: "t" },
    ...{ call: "c", tool: "write", input: { path: "a.txt", content: "x" }, risk: "write", shown: "", verdict: "allow" },
  };
  expect(claudeInput("PreToolUse", payload, "/project")).toMatchObject({
    ...{ session_id: "s", cwd: "/project", hook_event_name: "PreToolUse", tool_name: "Write", tool_use_id: "c" },
    tool_input: { path: "a.txt", content: "x", file_path: "/project/a.txt" },
    lares: payload,
  });
});

describe("answers", () => {
  const specific = (fields: object) => json({ hookSpecificOutput: { hookEventName: "PreToolUse", ...fields } });
  test.each([
    ["exit 2 denies a call", "tool.planned", end("", 2, "no\n"), { deny: "no" }],
    ["exit 2 asks for one more pass", "answer.ready", end("", 2, "cite"), { again: "cite" }],
    ["exit 2 after a tool is a note", "tool.finished", end("", 2, "lint failed"), { notes: ["lint failed"] }],
    ["exit 2 without words", "tool.planned", end("", 2), { deny: "it said no without a reason" }],
    ["silence is no objection", "tool.planned", end(""), undefined],
    ["chatter is no answer", "tool.planned", end("checked 3 files"), undefined],
    ["chatter before a prompt is context", "context.building", end("on call: Kim"), { notes: ["on call: Kim"] }],
    [
      "a decision to deny",
      "tool.planned",
      specific({ permissionDecision: "deny", permissionDecisionReason: "prod" }),
      { deny: "prod" },
    ],
    ["a decision to ask", "tool.planned", specific({ permissionDecision: "ask" }), { ask: "it gave no reason" }],
    ["the older block", "tool.planned", json({ decision: "block", reason: "old" }), { deny: "old" }],
    ["block at the end", "answer.ready", json({ decision: "block", reason: "tests fail" }), { again: "tests fail" }],
    ["stop", "tool.planned", json({ continue: false, stopReason: "enough" }), { deny: "enough" }],
    ["context", "context.building", specific({ additionalContext: "ctx" }), { notes: ["ctx"] }],
    ["our own words", "tool.finished", json({ shorten: { head: 3 } }), { shorten: { head: 3 } }],
  ] as const)("%s", (_what, event, ended, expected) => {
    expect(claudeAnswer(event, ended)).toEqual(expected);
  });

  test("what would be a yes keeps its name, so that it is reported as ignored (HOOKRUN-3)", () => {
    expect(claudeAnswer("tool.planned", specific({ permissionDecision: "allow", updatedInput: { a: 1 } }))).toEqual({
      allow: true,
      updatedInput: { a: 1 },
    });
    expect(claudeAnswer("tool.planned", json({ decision: "approve" }))).toEqual({ allow: true });
  });

  test("any other exit code, and broken JSON, are failures", () => {
    expect(() => claudeAnswer("tool.planned", end("", 1, "boom"))).toThrow("it exited with code 1: boom");
    expect(() => claudeAnswer("tool.planned", end("{oops"))).toThrow(SyntaxError);
  });
});
