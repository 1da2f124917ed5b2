import { expect, test } from "vitest";
import { agentPolicyConfig, policyConfig } from "./config.ts";

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
