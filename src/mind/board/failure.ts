/** What a failed attempt means for its task, by its cause: tried again after a while, stopped until a person acts, or unknown. Pure. */
import type { TurnFailure, TurnResult } from "../../core/domain/index.ts";
import { type Backoff, backoffMs } from "../../core/kit/index.ts";

/** Somebody has to change something before another try can end otherwise. */
const NEEDS_CHANGE: ReadonlySet<TurnFailure> = new Set([
  "auth",
  "billing",
  "not-found",
  "budget",
  "not-allowed",
  "too-large",
  "stopped-lares",
]);

/** Long enough for a provider to recover, short enough that an evening's work isn't lost. */
const BACKOFF: Backoff = { firstMs: 30_000, mostMs: 3_600_000, jitter: 0 };

export type AttemptEnd = "handed-in" | "again" | "block" | "unknown" | "stopped";

/** `hasUnknown`: something the attempt did to the world has an unknown outcome. */
export function readEnd(result: Pick<TurnResult, "state" | "failure">, hasUnknown: boolean): AttemptEnd {
  if (hasUnknown || result.failure === "unknown-outcome" || result.state === "attention") return "unknown";
  if (result.state === "stopped") return "stopped";
  if (result.state === "answered" || result.state === "silent" || result.state === "joined") return "handed-in";
  if (result.state === "declined") return "block";
  return result.failure !== undefined && NEEDS_CHANGE.has(result.failure) ? "block" : "again";
}

/** When a task whose attempts failed `spent` times may be taken again. */
export function waitAfter(spent: number, now: number): number {
  return now + backoffMs(BACKOFF, spent);
}
