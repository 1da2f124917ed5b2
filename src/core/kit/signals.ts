/**
 * Signals that follow others and can be let go. `AbortSignal.any` over a signal that lives as long as the program keeps something
 * for every call, and `AbortSignal.timeout` holds on to its caller until the time is up.
 */
import { setMaxListeners } from "node:events";

export interface Following {
  readonly signal: AbortSignal;
  /** Lets go of everything it follows; may be repeated. What has not aborted by then never does. */
  done(): void;
}

/** Aborts with the first of `parents`, for the same reason. */
export function following(...parents: readonly AbortSignal[]): Following {
  return follow(parents, new AbortController());
}

/** Aborts with `parent`, or after `ms`. */
export function deadline(parent: AbortSignal, ms: number): Following {
  const own = new AbortController();
  const { signal, done } = follow([parent], own);
  const timer = setTimeout(() => own.abort(new DOMException("It took too long.", "TimeoutError")), ms);
  timer.unref();
  return {
    signal,
    done() {
      clearTimeout(timer);
      done();
    },
  };
}

function follow(parents: readonly AbortSignal[], own: AbortController): Following {
  const done = () => {
    for (const parent of parents) parent.removeEventListener("abort", heard);
  };
  function heard(this: AbortSignal) {
    own.abort(this.reason);
    done();
  }
  const gone = parents.find((parent) => parent.aborted);
  if (gone) own.abort(gone.reason);
  else {
    // Many follow one at the same time, and Node would call eleven a leak.
    setMaxListeners(0, ...parents);
    for (const parent of parents) parent.addEventListener("abort", heard);
  }
  return { signal: own.signal, done };
}
