/** How an adapter says what its runtime can do. It never says `proven`: that is the host's own record. */
import type { RuntimeClaim } from "../../core/contracts/index.ts";

export const ABSENT = { proof: "absent" } as const;

export function claim<const T>(value: T): RuntimeClaim<T> {
  return { proof: "claimed", value };
}
