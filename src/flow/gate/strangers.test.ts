/** What a stranger's turn may do: talk (GATE-6, GATE-7). */
import { expect, test } from "vitest";
import type { ActionPlan } from "../../core/contracts/index.ts";
import type { Policy } from "./decide.ts";
import { forStrangers, strangersMayNot } from "./strangers.ts";

const plan = (over: Partial<ActionPlan>): ActionPlan => ({
  tool: "read",
  risk: "read",
  targets: [],
  shown: "",
  binding: {},
  ...over,
});

test("nothing the owner allowed was meant for strangers; what is denied stays denied (GATE-6)", () => {
  const policy: Policy = {
    mode: "ignore",
    allow: { exec: ["ls *"] },
    deny: { exec: ["rm *"] },
    remembered: new Set(["exec git status"]),
    place: { workspace: "/w", agentDir: "/a", home: "/h", userHome: "/home/ann" } as Policy["place"],
    authority: "stranger",
  };
  expect(forStrangers(policy)).toMatchObject({ mode: "ask", allow: {}, deny: { exec: ["rm *"] } });
  expect(forStrangers(policy).remembered.size).toBe(0);
});

test.each<[string, Partial<ActionPlan>, RegExp | undefined]>([
  ["read a file", { targets: ["/w/notes.txt"] }, /can.t use the workspace/],
  ["write a file", { tool: "write", risk: "write", targets: ["/w/notes.txt"] }, /can.t use the workspace/],
  ["make a schedule", { tool: "schedule_add", risk: "state" }, /Schedules are only for people/],
  ["make one by another tool", { tool: "x", risk: "state", changes: "schedule" }, /Schedules are only for people/],
  ["call another program's tool", { tool: "mcp", risk: "service", targets: ["sky/forecast"] }, /only for people/],
  ["read what is no file", { tool: "memory_search" }, undefined],
  ["look at a page", { tool: "web_fetch", risk: "network", targets: ["example.com"] }, undefined],
])("a stranger who wants to %s (GATE-7)", (_, over, words) => {
  const why = strangersMayNot(plan(over));
  if (words) expect(why).toMatch(words);
  else expect(why).toBeUndefined();
});
