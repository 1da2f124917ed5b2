/** Whether an account still hears: a pure rule over what is known, so that a dead line is noticed end to end and not by its socket. */
export interface Vitals {
  /** When this connection was begun. */
  startedAt: number;
  /** When the platform last proved that it is there; undefined: not since the start. */
  aliveAt: number | undefined;
  /** How much the platform says waits, and since when our position has not moved meanwhile. */
  behind: number;
  stuckSince: number | undefined;
  silenceMs: number | undefined;
}

/** A position that does not move while the platform has more. */
const STUCK_MS = 120_000;
const FIRST_SIGN_MS = 60_000;

/** Why it must be started anew, or nothing. */
export function trouble(v: Vitals, now: number): string | undefined {
  if (v.silenceMs !== undefined) {
    if (v.aliveAt === undefined) {
      if (now - v.startedAt > Math.max(v.silenceMs, FIRST_SIGN_MS)) return "It did not connect in time.";
    } else if (now - v.aliveAt > v.silenceMs) {
      return `Nothing was heard for ${Math.round((now - v.aliveAt) / 1000)} s.`;
    }
  }
  if (v.behind > 0 && v.stuckSince !== undefined && now - v.stuckSince > STUCK_MS)
    return `The platform says that ${v.behind} wait, and nothing is taken.`;
}
