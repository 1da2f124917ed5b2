/**
 * The gate: every tool call is judged here, and nowhere else (I9). Pure; explains itself in one sentence.
 *
 * Until rules can be written, the policy is: looking inside the workspace is allowed, what a person allowed "always" is
 * allowed, what reaches outside the workspace is refused, anything else asks.
 */
import type { ActionPlan } from "../../core/contracts/index.ts";

export interface Policy {
  mode: "ask" | "record" | "ignore";
  /** Rules a person remembered with "allow always", exactly as they were shown. */
  remembered: ReadonlySet<string>;
}

export type Verdict = { verdict: "allow" | "ask" | "deny"; because: string };

export function decide(policy: Policy, plan: ActionPlan): Verdict {
  if (plan.outside) return { verdict: "deny", because: plan.outside };
  if (plan.risk === "read") return { verdict: "allow", because: "It only reads inside the workspace." };
  const rule = ruleFor(plan);
  if (policy.remembered.has(rule)) return { verdict: "allow", because: `You allowed this always: ${rule}` };
  if (policy.mode !== "ask") return { verdict: "allow", because: `The agent's mode is "${policy.mode}".` };
  return { verdict: "ask", because: REASONS[plan.risk] };
}

const REASONS: Record<ActionPlan["risk"], string> = {
  read: "It reads.",
  write: "It changes files.",
  exec: "It runs a program on this machine.",
  network: "It talks to the network.",
  state: "It changes what Lares keeps.",
};

/** The exact rule "allow always" keeps: this tool on these targets. */
export function ruleFor(plan: ActionPlan): string {
  return `${plan.tool} ${plan.targets.map((t) => JSON.stringify(t)).join(" ")}`;
}
