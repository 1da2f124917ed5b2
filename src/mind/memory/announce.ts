/** Says that memory changed, at most so often: an import adds thousands of facts. */
import type { Bus, Clock } from "../../core/kit/index.ts";

const PAUSE_MS = 250;

export function makeAnnouncer({ bus, clock }: { bus: Bus; clock: Clock }): (what: "facts" | "vectors") => void {
  const waiting = new Set<"facts" | "vectors">();
  return (what) => {
    if (waiting.has(what)) return;
    waiting.add(what);
    clock.after(PAUSE_MS, () => {
      waiting.delete(what);
      bus.emit({ event: "memory.changed", what });
    });
  };
}
