/** How people are notified about failing jobs: one message per kind of failure, then nothing until it changes. Pure. */
import type { TurnFailure } from "../../core/domain/index.ts";

/** `preflight`: something it needs is missing, found without a model call. `delivery`: it ran, but the answer reached nobody. */
export type JobFailure = TurnFailure | "preflight" | "delivery";

/** These don't go away by waiting; somebody has to act. */
const LASTING: ReadonlySet<JobFailure> = new Set([
  "preflight",
  "auth",
  "billing",
  "not-found",
  "not-allowed",
  "budget",
  "unknown-outcome",
  "stopped-lares",
]);

/** Identifies a failure by its kind and text, without the parts that differ from run to run. */
export function makeSignature(failure: JobFailure, reason: string): string {
  const words = reason
    .toLowerCase()
    .replace(/\b[0-9a-f]{8,}\b/g, "#")
    .replace(/\b(?=\w*\d)[\w-]{12,}\b/g, "#")
    .replace(/\d+(?:[.,:]\d+)*/g, "#")
    .replace(/\s+/g, " ")
    .trim();
  return `${failure}: ${words.slice(0, 200)}`;
}

/** Whether to notify about this failure now. `told`: the signature of the last failure people were notified about. */
export function isTold(f: {
  failure: JobFailure;
  signature: string;
  failures: number;
  alertAfter: number;
  told: string | null;
  /** It won't run again by itself. */
  isLast: boolean;
}): boolean {
  if (f.isLast) return true;
  if (f.told === f.signature) return false;
  return LASTING.has(f.failure) || f.failures >= f.alertAfter;
}
