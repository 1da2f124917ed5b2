/**
 * What a stranger's turn may do: talk. A stranger is somebody in an open chat whom the owner has not let in.
 *
 * GATE-6: what the owner allowed, allowed always or trusts an agent with was not meant for strangers: every action is judged as if
 *     there were no allow rule, no remembered approval, and the mode were `ask`.
 * GATE-7: the workspace holds the owner's files. Strangers neither read nor write there, and they make no schedules.
 */
import type { ActionPlan } from "../../core/contracts/index.ts";
import type { Policy } from "./decide.ts";
import { NO_SCHEDULES, NO_SERVICES, NO_WORKSPACE } from "./words.ts";

export function forStrangers(policy: Policy): Policy {
  return { ...policy, mode: "ask", allow: {}, remembered: new Set() };
}

/** The sentence that says why it is denied, or undefined. */
export function strangersMayNot(plan: ActionPlan): string | undefined {
  if (plan.tool.startsWith("schedule_") || plan.changes === "schedule") return NO_SCHEDULES;
  if (plan.risk === "service") return NO_SERVICES;
  // By the shape of the target: no matter which tool it is, a path is a file of the owner's.
  const isFile = (plan.risk === "read" || plan.risk === "write") && plan.targets.some((path) => path.startsWith("/"));
  return isFile ? NO_WORKSPACE : undefined;
}
