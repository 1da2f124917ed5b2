/**
 * How far a running tool is, shown live and recorded nowhere: a tool may report a thousand times a second, and each report is worth
 * nothing once the next one is there.
 */
import type { ToolProgress } from "../../core/contracts/index.ts";
import { type Clock, visibleLine, withoutHidden } from "../../core/kit/index.ts";

/** Four a second are as many as anybody reads. */
const APART_MS = 250;
const LONGEST = 160;

export function makeProgress(clock: Clock, show: (text: string) => void): (progress: ToolProgress) => void {
  let shownAt = Number.NEGATIVE_INFINITY;
  return (progress) => {
    if (clock.now() - shownAt < APART_MS) return;
    shownAt = clock.now();
    show(describeProgress(progress));
  };
}

/** "3 of 10: indexing". The words are somebody else's: one line, bounded, nothing hidden. */
export function describeProgress({ done, total, text }: ToolProgress): string {
  const far = total !== undefined && total > 0 ? `${round(done)} of ${round(total)}` : String(round(done));
  const said = visibleLine(withoutHidden((text ?? "").slice(0, 4 * LONGEST)).trim());
  return (said === "" ? far : `${far}: ${said}`).slice(0, LONGEST);
}

function round(value: number): number {
  return Number.isInteger(value) ? value : Math.round(value * 100) / 100;
}
