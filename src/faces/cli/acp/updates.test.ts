/** What each of our events and records becomes in an editor. */
import { describe, expect, test } from "vitest";
import { notAcp } from "../../../../test/support/acp-schema.ts";
import type { Json } from "../../../core/domain/index.ts";
import type { HistoryMessage } from "../../../core/protocol/index.ts";
import { showCall } from "./calls.ts";
import { callEnded, callStarted, MEANINGS, replay, toStopReason } from "./updates.ts";
import type { SessionUpdate } from "./wire.ts";

const FOLDER = "/srv/app";
const call = (name: string, input: Json) => ({ id: "c1", name, input });
const checked = (updates: SessionUpdate[]) => {
  for (const update of updates) expect(notAcp("SessionNotification", { sessionId: "s", update })).toBeUndefined();
  return updates;
};

test("every event has a meaning, and only those that an editor shows have another than nothing", () => {
  const shown = Object.entries(MEANINGS).filter(([, meaning]) => meaning !== "nothing");
  expect(Object.fromEntries(shown)).toEqual({
    "turn.delta": "text",
    "turn.discarded": "text",
    "turn.thinking": "thought",
    "turn.parked": "records",
    "turn.ended": "records",
    "tool.call": "tool",
    "tool.progress": "tool",
    "tool.result": "tool",
    "approval.answered": "answer",
    "session.changed": "session",
  });
});

describe("a tool call", () => {
  test.each<[string, Json, object]>([
    [
      "read",
      { path: "a.ts", offset: 7 },
      { kind: "read", locations: [{ path: "/srv/app/a.ts", line: 7 }], content: [] },
    ],
    ["read", { path: "skill:notes" }, { kind: "read", locations: [] }],
    ["list", {}, { kind: "search", title: "list", locations: [] }],
    ["search", { pattern: "x", path: "/srv/app/src" }, { kind: "search", locations: [{ path: "/srv/app/src" }] }],
    [
      "write",
      { path: "../b.ts", content: "new" },
      { kind: "edit", content: [{ type: "diff", path: "/srv/b.ts", oldText: null, newText: "new" }] },
    ],
    [
      "edit",
      { path: "a.ts", old: "1", new: "2" },
      { title: "edit a.ts", content: [{ type: "diff", path: "/srv/app/a.ts", oldText: "1", newText: "2" }] },
    ],
    [
      "apply_patch",
      { patch: "*** Begin Patch\n*** Update File: a.ts\n@@\n same\n-1\n+2\n*** Add File: n.ts\n+x\n*** End Patch" },
      {
        kind: "edit",
        content: [
          { type: "diff", path: "/srv/app/a.ts", oldText: "same\n1", newText: "same\n2" },
          { type: "diff", path: "/srv/app/n.ts", oldText: null, newText: "x" },
        ],
        locations: [{ path: "/srv/app/a.ts" }, { path: "/srv/app/n.ts" }],
      },
    ],
    ["exec", { command: "npm test" }, { kind: "execute", title: "exec npm test", content: [], locations: [] }],
    ["web_fetch", { url: "https://example.com" }, { kind: "fetch", locations: [] }],
    ["tool_run", { name: "files__move", input: { from: "a" } }, { name: "files__move", kind: "other" }],
    ["write", { path: 1, content: [] }, { kind: "edit", content: [], locations: [] }],
    ["apply_patch", { patch: "nonsense" }, { kind: "edit", content: [], locations: [] }],
    ["exec", { command: "x".repeat(100_000) }, { rawInput: { cut: true } }],
  ])("%s %#", (name, input, expected) => {
    expect(showCall(call(name, input), FOLDER)).toMatchObject(expected);
    checked([callStarted(call(name, input), FOLDER, false)]);
  });

  test("that was announced before only changes its state", () => {
    expect(checked([callStarted(call("exec", {}), FOLDER, true)])).toEqual([
      { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "in_progress" },
    ]);
  });

  test("ends with its result, cut where it is long; a diff stays in view unless it failed", () => {
    expect(callEnded({ id: "c1", text: "ok" })).toMatchObject({ status: "completed", content: [{ type: "content" }] });
    expect(callEnded({ id: "c1", text: "ok" }, true)).not.toHaveProperty("content");
    expect(callEnded({ id: "c1", text: "no", isError: true }, true)).toMatchObject({ status: "failed", content: [{}] });
    expect(JSON.stringify(callEnded({ id: "c1", text: "x".repeat(1_000_000) })).length).toBeLessThan(40_000);
    checked([callEnded({ id: "c1", text: "" })]);
  });
});

test("a stored conversation is replayed with thoughts, calls and results, and without lines of ours", () => {
  const line = (role: HistoryMessage["role"], content: HistoryMessage["content"]): HistoryMessage => ({
    session: "s",
    seq: 1,
    id: "m",
    turn: "t",
    role,
    content,
    timestamp: "2026-11-16T00:00:00.000Z",
  });
  const file = { attachment: "at_1", mediaType: "text/plain", name: "a.txt", bytes: 1 };
  const updates = [
    line("user", [
      { type: "text", text: "[Monday]", ours: true },
      { type: "text", text: "hello" },
      { type: "text", text: "its words", file },
      { type: "image", attachment: "at_2", mediaType: "image/png", name: "p.png" },
    ]),
    line("assistant", [
      { type: "thinking", text: "hm" },
      { type: "text", text: "I look." },
      { type: "tool-call", id: "c1", name: "read", input: { path: "a.ts" } },
      { type: "tool-call", id: "c2", name: "exec", input: { command: "rm x" } },
      { type: "tool-call", id: "c3", name: "exec", input: { command: "ls" } },
    ]),
    line("tool", [
      { type: "tool-result", id: "c1", name: "read", text: "1" },
      { type: "tool-result", id: "c2", name: "exec", text: "denied", notRun: "denied" },
      { type: "tool-result", id: "c3", name: "exec", text: "waits", notRun: "waiting" },
    ]),
  ].flatMap((one) => replay(one, FOLDER));
  checked(updates);
  const brief = updates.map((one) => {
    if ("toolCallId" in one) return `${one.sessionUpdate} ${one.toolCallId} ${one.status}`;
    return "content" in one && one.content.type === "text" ? `${one.sessionUpdate} ${one.content.text}` : "";
  });
  expect(brief).toEqual([
    "user_message_chunk hello",
    "user_message_chunk [a.txt]",
    "user_message_chunk [p.png]",
    "agent_thought_chunk hm",
    "agent_message_chunk I look.",
    "tool_call c1 pending",
    "tool_call c2 pending",
    "tool_call c3 pending",
    "tool_call_update c1 completed",
    "tool_call_update c2 failed",
  ]);
});

test.each([
  ["answered", undefined, "end_turn"],
  ["silent", undefined, "end_turn"],
  ["declined", "budget", "end_turn"],
  ["stopped", undefined, "cancelled"],
  ["failed", "limit", "max_turn_requests"],
  ["failed", "auth", undefined],
  ["attention", undefined, undefined],
])("a turn that ends as %s (%s) ends the prompt with %s", (state, failure, expected) => {
  expect(toStopReason({ state, failure })).toBe(expected);
});
