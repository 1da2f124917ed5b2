/** Says each kind of refusal once: a page that knocks a thousand times leaves one line, not a thousand. */
import type { Log } from "../../../core/kit/index.ts";

/** Then it starts over: a new day's first refusal is worth a line again. */
const MOST_KINDS = 256;

export function sayOnce(log: Log): (kind: string, facts: Record<string, string>) => void {
  const said = new Set<string>();
  return (kind, facts) => {
    const key = JSON.stringify([kind, facts]);
    if (said.has(key)) return;
    if (said.size >= MOST_KINDS) said.clear();
    said.add(key);
    log.warn(kind, facts);
  };
}
