/** A refusal as the model reads it: final, and with what can be done instead, so that no turn is spent on trying it another way. */
import type { ActionPlan } from "../../core/contracts/index.ts";
import { type Authority, assertNever } from "../../core/domain/index.ts";

/** What is left to do. Guests get one sentence for everything: a second one would tell them what there is. */
export function suggestInstead(plan: Pick<ActionPlan, "risk" | "outside">, authority: Authority): string {
  if (authority === "stranger") return "Tell the person that this is not possible here.";
  switch (plan.risk) {
    case "read":
      return plan.outside
        ? "Ask the person to attach the file or put a copy in the workspace."
        : "Go on without it, or ask the person for what you need from it.";
    case "write":
      return plan.outside
        ? "Write to the workspace instead, and say where the file is."
        : "Leave it as it is, and tell the person what you would have changed.";
    case "exec":
      return "Do the rest without it, and tell the person the command if they may want to run it themselves.";
    case "network":
      return "Go on with what you have, or ask the person to send you what the page says.";
    case "service":
      return "Go on without that tool, and tell the person what you would have called.";
    case "state":
      return "Go on without it, and tell the person what is left undone.";
    default:
      return assertNever(plan.risk);
  }
}

export function deniedText(
  because: string,
  instead = "Go on without it, and tell the person what is left undone.",
): string {
  return `Not allowed: ${because} This is final, and the same call will be refused again: do not look for a way around it. ${instead}`;
}
