/** What an action would do to what Lares stores, as people read it in a question: after "would". */
import type { ActionPlan } from "../../core/contracts/index.ts";

const BY_TOOL: Readonly<Record<string, string>> = {
  memory_save: "save a memory",
  memory_forget: "delete memories",
  schedule_add: "add a schedule",
  schedule_update: "change a schedule",
  schedule_snooze: "run a schedule again later",
  schedule_remove: "remove a schedule",
  message: "send to another chat",
};

const BY_KIND: Readonly<Record<NonNullable<ActionPlan["changes"]>, string>> = {
  memory: "change what the agent remembers",
  skills: "change a skill",
  schedule: "change a schedule",
  policy: "change what may run without asking",
  rights: "change who is allowed to do what",
  destination: "send to another chat",
};

export function stateWords({ tool, changes }: Pick<ActionPlan, "tool" | "changes">): string {
  if (Object.hasOwn(BY_TOOL, tool)) return BY_TOOL[tool]!;
  return changes ? BY_KIND[changes] : "change something Lares stores";
}
