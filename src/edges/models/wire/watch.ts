/** Time limits of one attempt, and abort. One timer per attempt: a part only notes when it came. */
import { type Clock, pause } from "../../../core/kit/index.ts";

export interface StallWatch {
  /** The provider said something. */
  touch(): void;
  stop(): void;
}

export function watch(
  clock: Clock,
  limits: { firstByteMs: number; idleMs: number },
  onSilence: (code: "FIRST_BYTE_TIMEOUT" | "IDLE_TIMEOUT", ms: number) => void,
): StallWatch {
  let last = clock.now();
  let begun = false;
  let cancel = () => {};
  const arm = () => {
    const limit = begun ? limits.idleMs : limits.firstByteMs;
    const left = last + limit - clock.now();
    if (left <= 0) onSilence(begun ? "IDLE_TIMEOUT" : "FIRST_BYTE_TIMEOUT", limit);
    else cancel = clock.after(left, arm);
  };
  arm();
  return {
    touch() {
      last = clock.now();
      if (begun) return;
      begun = true;
      // The idle limit may be the shorter one.
      cancel();
      arm();
    },
    stop: () => cancel(),
  };
}

export function abortError(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  if (reason instanceof Error && reason.name === "AbortError") return reason;
  return new DOMException("The model call was aborted.", "AbortError");
}

/** Waits, or throws an AbortError when the signal aborts first. */
export async function pauseOrAbort(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  await pause(clock, ms, signal);
  if (signal.aborted) throw abortError(signal);
}
