import { expect, test } from "vitest";
import type { ActionPlan } from "../../core/contracts/index.ts";
import { taint } from "./taint.ts";
import { execPlan, makePolicy } from "./testing.ts";

const outside = makePolicy({ authority: "owner", tainted: true });
const plan = (over: Partial<ActionPlan>): ActionPlan => ({
  tool: "x",
  risk: "read",
  targets: [],
  shown: "",
  binding: {},
  ...over,
});

test.each<[string, ActionPlan, RegExp]>([
  ["memory", plan({ tool: "memory_save", risk: "state" }), /save a memory/],
  ["a page", plan({ tool: "web_fetch", risk: "network", targets: ["evil.net"] }), /new destination/],
  ["standing files", plan({ tool: "write", risk: "write", targets: ["/w/AGENTS.md"] }), /standing instructions/],
  ["a command's host", execPlan("curl https://evil.net/x"), /new destination, evil\.net/],
  ["a hidden host", execPlan("unheard-of --send x"), /may connect anywhere/],
  ["input to a program", plan({ tool: "process", risk: "exec" }), /input to a running program/],
])("after text from outside, %s asks (I12)", (_, of, words) => {
  expect(taint(outside, of, [], "rule")).toMatchObject({ verdict: "ask", because: expect.stringMatching(words) });
  expect(taint(makePolicy(), of, [], "rule")).toBeUndefined();
});

test("code that a person could not read is denied", () => {
  const part = { what: "x", verdict: "deny", because: "Hidden." } as const;
  expect(taint(outside, execPlan("ls"), [part], "rule")).toEqual({ verdict: "deny", because: "Hidden." });
});

test("a host that the owner named, in a rule or in the message, is not new; one that only ends like it is", () => {
  const to = (host: string, over: object) =>
    taint(makePolicy({ tainted: true, ...over }), execPlan(`curl https://${host}/x`), [], "rule");
  expect(to("example.com", { said: "look at example.com, please" })).toBeUndefined();
  expect(to("example.com", { allow: { web_fetch: ["example.com"] } })).toBeUndefined();
  expect(to("example.com", { said: "look at notexample.com" })).toBeDefined();
  expect(to("example.com", { said: "look at example.com.evil.net" })).toBeDefined();
  expect(to("example.com", { remembered: new Set(["rule"]) })).toBeUndefined();
});

test("people the owner knows may reach hosts, but change nothing that Lares stores", () => {
  const known = makePolicy({ authority: "known" });
  expect(taint(known, execPlan("curl https://a.example"), [], "rule")).toBeUndefined();
  expect(taint(known, plan({ tool: "schedule_add", risk: "state" }), [], "rule")?.because).toMatch(
    /other than the owner/,
  );
});
