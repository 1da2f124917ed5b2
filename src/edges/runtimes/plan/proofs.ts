/**
 * What a claim is worth here. An adapter claims; the host writes down what its own conformance run saw, for one version on this machine.
 */
import type { RuntimeCapabilities, RuntimeClaim, RuntimeSkill } from "../../../core/contracts/index.ts";

/** What was seen of one capability. */
export interface SeenSkill {
  skill: RuntimeSkill;
  /** Another version may do it differently, so it has to be seen again. */
  version: string;
  worked: boolean;
  /** Why it counts as absent, when it didn't work. */
  note?: string;
}

/** A claim that was seen to work is proven, one that was seen to fail is absent; what the runtime doesn't claim stays absent. */
export function withProofs(
  claimed: RuntimeCapabilities,
  version: string,
  seen: readonly SeenSkill[],
): RuntimeCapabilities {
  const proven = { ...claimed };
  const weigh = <T>(claim: RuntimeClaim<T>, skill: RuntimeSkill): RuntimeClaim<T> => {
    const found = seen.findLast((one) => one.skill === skill && one.version === version);
    if (!found || claim.proof === "absent") return claim;
    if (found.worked) return { ...claim, proof: "proven" };
    return { proof: "absent", note: found.note ?? "It was tried here and didn't work." };
  };
  for (const skill of Object.keys(claimed) as (keyof RuntimeCapabilities)[])
    if (skill !== "class") Object.assign(proven, { [skill]: weigh<unknown>(claimed[skill], skill) });
  return proven;
}
