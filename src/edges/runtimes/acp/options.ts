/** The answer to a permission request, as one of the options that the agent offers. Pure. */
import { asFields } from "./fields.ts";
import type { AcpProfile } from "./profile.ts";

export interface PermissionOption {
  optionId: string;
  kind: string;
}

export type PermissionOutcome = { outcome: "selected"; optionId: string } | { outcome: "cancelled" };

/** In this order. "Always" isn't among them: what is allowed for good, the owner's policy says. */
const KINDS = { allow: ["allow_once"], deny: ["reject_once", "reject_always"] } as const;

export function readOptions(given: unknown): PermissionOption[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((one: unknown): PermissionOption[] => {
    const { optionId, kind } = asFields(one);
    return typeof optionId === "string" ? [{ optionId, kind: String(kind) }] : [];
  });
}

/** Cancelled where no option says it: an agent that offers only "always" isn't allowed anything. */
export function chooseOption(
  { neverChoose }: Pick<AcpProfile, "neverChoose">,
  options: readonly PermissionOption[],
  answer: "allow" | "deny",
): PermissionOutcome {
  const usable = options.filter(({ optionId }) => !neverChoose.includes(optionId));
  for (const kind of KINDS[answer]) {
    const found = usable.find((one) => one.kind === kind);
    if (found) return { outcome: "selected", optionId: found.optionId };
  }
  return { outcome: "cancelled" };
}
