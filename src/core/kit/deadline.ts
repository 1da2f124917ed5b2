/**
 * A signal that aborts with `parent` or after `ms`, and can be let go. `AbortSignal.any` over a signal that lives as long as the
 * program keeps something for every call, and `AbortSignal.timeout` holds on to its caller until the time is up.
 */
export function deadline(parent: AbortSignal, ms: number): { signal: AbortSignal; done(): void } {
  const own = new AbortController();
  const follow = () => own.abort(parent.reason);
  const timer = setTimeout(() => own.abort(new DOMException("It took too long.", "TimeoutError")), ms);
  timer.unref();
  if (parent.aborted) follow();
  else parent.addEventListener("abort", follow, { once: true });
  return {
    signal: own.signal,
    done() {
      clearTimeout(timer);
      parent.removeEventListener("abort", follow);
    },
  };
}
