/** How an adapter says what its runtime can do. It never says `proven`: that is the host's own record. */
import type { RuntimeClaim } from "../../core/contracts/index.ts";

/** `note`: why, in a sentence. */
export function absent(note: string): Extract<RuntimeClaim<never>, { proof: "absent" }> {
  return { proof: "absent", note };
}

export function claim<const T>(value: T): RuntimeClaim<T> {
  return { proof: "claimed", value };
}
