/** Whether an account still receives: a pure rule, so that a dead connection is noticed end to end and not only by its socket. */
import { NEVER_CONNECTED, nothingReceived, receivesNothing } from "./words.ts";

export interface Vitals {
  /** When this connection was started. */
  startedAt: number;
  /** When the platform last proved that it is there; undefined: not since the start. */
  aliveAt: number | undefined;
  /** How many messages the platform says are waiting, and since when our position hasn't moved. */
  behind: number;
  stuckSince: number | undefined;
  silenceMs: number | undefined;
}

/** How long the position may stand still while the platform has more. */
const STUCK_MS = 120_000;
const FIRST_SIGN_MS = 60_000;

/** Why it must be restarted, or undefined. */
export function trouble(v: Vitals, now: number): string | undefined {
  if (v.silenceMs !== undefined) {
    if (v.aliveAt === undefined) {
      if (now - v.startedAt > Math.max(v.silenceMs, FIRST_SIGN_MS)) return NEVER_CONNECTED;
    } else if (now - v.aliveAt > v.silenceMs) {
      return nothingReceived(Math.round((now - v.aliveAt) / 1000));
    }
  }
  if (v.behind > 0 && v.stuckSince !== undefined && now - v.stuckSince > STUCK_MS) return receivesNothing(v.behind);
}
