/**
 * What the model can do after a refusal. A bare "no" makes models try the same thing another way, call after call, so each refusal
 * comes with something useful to do.
 */
import type { ActionPlan } from "../../core/contracts/index.ts";
import type { Authority } from "../../core/domain/index.ts";
import { INSTEAD, INSTEAD_FOR_GUESTS } from "./words.ts";

/** Guests get one sentence for everything: a second one would show them what exists. */
export function suggestInstead({ risk, outside }: Pick<ActionPlan, "risk" | "outside">, authority: Authority): string {
  if (authority === "stranger") return INSTEAD_FOR_GUESTS;
  if (risk === "read" && outside) return INSTEAD.readOutside;
  if (risk === "write" && outside) return INSTEAD.writeOutside;
  return INSTEAD[risk];
}
