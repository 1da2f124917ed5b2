import { expect, test } from "vitest";
import type { AdviceContext } from "../../core/contracts/index.ts";
import { adviseRules, agentPolicyConfig, policyConfig } from "./config.ts";

test("without settings everything is asked, and an agent without a mode has the general one", () => {
  expect(policyConfig.parse({})).toEqual({ mode: "ask", allow: {}, deny: {} });
  expect(agentPolicyConfig.parse({}).mode).toBeUndefined();
});

test.each([
  [{ mode: "trust" }],
  [{ alow: {} }],
  [{ allow: { "No Tool": ["x"] } }],
  [{ allow: { exec: ["* anything"] } }],
  [{ allow: { exec: ["git log | sh"] } }],
  [{ deny: { read: [""] } }],
])("%j is refused", (given) => expect(policyConfig.safeParse(given).success).toBe(false));

test.each([
  ["ls*", 'Did you mean "ls *"?'],
  ["ls* *", 'Did you mean "ls *"?'],
  ["git* status", 'Did you mean "git status"?'],
  ["l?", "Write the whole name."],
  ["*ls", "Write the whole name."],
  ["cd*", "cd is part of the shell"],
  ["ln *", "Write its arguments into the rule in full."],
  ["python3 *", '"python3 tools/report *" or "python3 -m pytest *"'],
  ["sqlite3 *", '"sqlite3 -safe app.db *"'],
  ["npx *", '"npx tsc *"'],
  ["python3*", 'Did you mean "python3 tools/report *"?'],
  ["ssh*", "Write the whole name."],
  ["xargs *", "Write a rule for what it runs instead."],
  ["ls *", undefined],
  ["bin/*", undefined],
  ["~/bin/* x", undefined],
  ["ls *.md", undefined],
])("what is said of the rule %s", async (rule, said) => {
  const judge = adviseRules(["exec"], new Set(["cd"]))["policy.allow.exec.*"]!;
  const at: AdviceContext = { config: {}, env: {}, folders: [], home: "/h", running: false, now: 0 };
  const message = (await judge(rule, at, "exec"))?.message;
  if (said === undefined) expect(message).toBeUndefined();
  else expect(message).toContain(said);
});
