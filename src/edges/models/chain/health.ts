/**
 * How each candidate (provider + model + credential) has done lately. In memory: after a restart everybody gets a
 * fresh chance, which is what a person who just changed a key expects.
 *
 * CHAIN-9: a success forgets everything.
 * CHAIN-10: the fault of the request (too long, malformed) is nobody's bad health.
 * CHAIN-11: when a cooldown ends one call goes first, as a probe; the others wait for what it finds.
 */
import type { FailureClass } from "../../../core/contracts/index.ts";

export interface HealthEntry {
  failures: number;
  /** Not asked before this time, while there is somebody else. */
  until: number;
  last: FailureClass;
  /** A call is finding out whether it is well again. */
  probing: boolean;
}

export type Health = ReadonlyMap<string, HealthEntry>;

/** Doubling in spirit: a hiccup passes in half a minute, an outage is asked every five. */
const COOLDOWN_MS = [30_000, 60_000, 300_000] as const;
/** Credit is bought by a person; asking every half minute only fills logs. */
const BILLING_MS = 600_000;

export class HealthBook {
  readonly entries = new Map<string, HealthEntry>();

  succeeded(id: string): void {
    this.entries.delete(id);
  }

  failed(id: string, failure: FailureClass, retryAfterMs: number | null, now: number): void {
    const before = this.entries.get(id);
    if (isFaultOfRequest(failure)) {
      if (before) this.entries.set(id, { ...before, probing: false });
      return;
    }
    const failures = (before?.failures ?? 0) + 1;
    this.entries.set(id, {
      failures,
      until: now + cooldownMs(failure, failures, retryAfterMs),
      last: failure,
      probing: false,
    });
  }

  /** Called before a candidate with a past is asked again. */
  probing(id: string): void {
    const entry = this.entries.get(id);
    if (entry) entry.probing = true;
  }

  /** The probe ended without an outcome, because the caller gave up. */
  unresolved(id: string): void {
    const entry = this.entries.get(id);
    if (entry) entry.probing = false;
  }
}

function isFaultOfRequest(failure: FailureClass): boolean {
  return failure === "context-overflow" || failure === "format";
}

export function cooldownMs(failure: FailureClass, failures: number, retryAfterMs: number | null): number {
  if (retryAfterMs !== null) return retryAfterMs;
  if (failure === "billing") return BILLING_MS;
  // A rejected key or a missing model does not heal by itself; it is asked rarely, not never.
  if (failure === "auth" || failure === "not-found") return COOLDOWN_MS[2];
  return COOLDOWN_MS[Math.min(failures, COOLDOWN_MS.length) - 1]!;
}
