/**
 * Who is asked next. One pure function decides it at the start of a call and after every failure.
 *
 * CHAIN-1: candidates are asked in their order; one that is cooling down is skipped while another is well.
 * CHAIN-2: no candidate is asked twice while one that was not asked is left and can help.
 * CHAIN-3: each distinct provider is asked once before the call gives up, cooling down or not.
 * CHAIN-4: a request that is too long goes only to a model with a larger window; one that was refused as malformed only to
 *     another model. Another credential of the same model would refuse it just the same.
 * CHAIN-5: when nobody else is left, the first whose failure may pass is asked again after a pause, a bounded number of times.
 * CHAIN-6: a pause never goes past the deadline.
 */
import type { FailureClass } from "../../../core/contracts/index.ts";
import { type Backoff, backoffMs } from "../../../core/kit/index.ts";
import type { Health, HealthEntry } from "./health.ts";

export interface Candidate {
  /** `provider/model@credential`: the key of its health. */
  id: string;
  provider: string;
  /** `provider/model`. */
  model: string;
  credential: string;
  contextWindow: number;
}

/** How one candidate has done in this call. */
export interface Tried {
  times: number;
  last: FailureClass;
  retryAfterMs: number | null;
}

export interface CallError {
  candidate: Candidate;
  failure: FailureClass;
  /** By candidate id, the latest failure included. */
  tried: ReadonlyMap<string, Tried>;
  /** No pause may end after this time. */
  deadline: number;
}

export type Next =
  | { use: Candidate }
  | { wait: number; candidate: Candidate }
  | { stop: "nobody" | "exhausted" | "deadline" | "too-long" | "malformed" };

/** Half a second, then 1, 2, 4 s: a hiccup of a provider is over by then, and a person still waits. */
const BACKOFF: Backoff = { firstMs: 500, mostMs: 8_000, jitter: 0.5 };
/** Times a candidate is asked in one call. What is not known to pass gets one more chance only. */
const MOST_TIMES: Partial<Record<FailureClass, number>> = {
  "rate-limit": 4,
  overload: 4,
  "server-error": 4,
  timeout: 3,
  network: 4,
  unknown: 2,
};

export function next(
  candidates: readonly Candidate[],
  health: Health,
  error: CallError | null,
  now: number,
  random: () => number = Math.random,
): Next {
  const first = candidates[0];
  if (!first) return { stop: "nobody" };
  const isWell = (candidate: Candidate) => isAvailable(health.get(candidate.id), now);
  // CHAIN-3 holds for the first request too: a call that asks nobody helps nobody.
  if (!error) return { use: candidates.find(isWell) ?? soonest(candidates, health, now) };

  const untried = candidates.filter((c) => !error.tried.has(c.id) && canHelp(c, candidates, error));
  const well = untried.find(isWell);
  if (well) return { use: well };
  const providersTried = new Set(candidates.filter((c) => error.tried.has(c.id)).map((c) => c.provider));
  const unasked = untried.find((c) => !providersTried.has(c.provider));
  if (unasked) return { use: unasked };

  const again = candidates.find((c) => mayPass(error.tried.get(c.id)));
  if (!again) return { stop: toReason(error.failure) };
  const tried = error.tried.get(again.id)!;
  const wait = tried.retryAfterMs ?? backoffMs(BACKOFF, tried.times, random);
  return now + wait > error.deadline ? { stop: "deadline" } : { wait, candidate: again };
}

/** CHAIN-4, for every failure of this call: what was too long for one model is too long for all that are no larger. */
function canHelp(candidate: Candidate, candidates: readonly Candidate[], error: CallError): boolean {
  return candidates.every((other) => {
    const last = error.tried.get(other.id)?.last;
    if (last === "context-overflow") return candidate.contextWindow > other.contextWindow;
    if (last === "format") return candidate.model !== other.model;
    return true;
  });
}

function mayPass(tried: Tried | undefined): boolean {
  return tried !== undefined && tried.times < (MOST_TIMES[tried.last] ?? 0);
}

function isAvailable(entry: HealthEntry | undefined, now: number): boolean {
  return !entry || (entry.until <= now && !entry.probing);
}

/** All are cooling down: the one whose cooldown ends first, the earlier in order when they end together. */
function soonest(candidates: readonly Candidate[], health: Health, now: number): Candidate {
  const end = (c: Candidate) => Math.max(health.get(c.id)?.until ?? 0, now);
  return candidates.reduce((best, c) => (end(c) < end(best) ? c : best));
}

function toReason(failure: FailureClass): "exhausted" | "too-long" | "malformed" {
  if (failure === "context-overflow") return "too-long";
  if (failure === "format") return "malformed";
  return "exhausted";
}
