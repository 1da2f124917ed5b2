/** Calls of tools that other programs offer (MCP): which rules cover them, and what text from outside changes. */
import { expect, test } from "vitest";
import type { ActionPlan } from "../../core/contracts/index.ts";
import { decide, type Policy } from "./decide.ts";

const plan = (over: Partial<ActionPlan> = {}): ActionPlan => ({
  tool: "mcp",
  risk: "service",
  targets: ["sky/forecast"],
  shown: "",
  binding: {},
  ...over,
});
const policy = (over: Partial<Policy> = {}): Policy => ({
  mode: "ask",
  allow: {},
  deny: {},
  remembered: new Set(),
  authority: "owner",
  place: { workspace: "/h/agents/main/workspace", agentDir: "/h/agents/main", home: "/h", userHome: "/home/ann" },
  ...over,
});

test.each<[string, Partial<Policy>, Partial<ActionPlan>, "allow" | "ask" | "deny"]>([
  ["no rule", {}, {}, "ask"],
  ["a rule that names it", { allow: { mcp: ["sky/forecast"] } }, {}, "allow"],
  ["a rule for the server", { allow: { mcp: ["sky/*"] } }, {}, "allow"],
  ["a rule for another server", { allow: { mcp: ["sea/*"] } }, {}, "ask"],
  ["a rule that only begins like it", { allow: { mcp: ["sky/fore"] } }, {}, "ask"],
  ["a rule of another tool", { allow: { exec: ["sky/*"] } }, {}, "ask"],
  ["a wildcard for a tool that destroys", { allow: { mcp: ["sky/*"] } }, { destroys: true }, "ask"],
  ["a rule that names a tool that destroys", { allow: { mcp: ["sky/forecast"] } }, { destroys: true }, "allow"],
  ["a deny rule", { allow: { mcp: ["sky/*"] }, deny: { mcp: ["sky/fore*"] } }, {}, "deny"],
  ["a remembered yes", { remembered: new Set(['mcp "sky/forecast"']) }, {}, "allow"],
  ["mode record", { mode: "record" }, {}, "allow"],
  ["text from outside", { mode: "record", tainted: true }, {}, "ask"],
  ["text from outside and a rule", { allow: { mcp: ["sky/*"] }, tainted: true }, {}, "allow"],
  ["a stranger", { allow: { mcp: ["sky/*"] }, authority: "stranger" }, {}, "deny"],
])("with %s", (_name, given, over, verdict) => {
  expect(decide(policy(given), plan(over)).verdict).toBe(verdict);
});
