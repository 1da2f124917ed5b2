/** What of a turn is not as well as its state says: an action nobody knows the outcome of, an answer that did not arrive. */
import type { Reads } from "../../core/contracts/index.ts";
import type { TurnDoubt } from "../../core/protocol/index.ts";
import { listLostOf } from "../../flow/outbox/index.ts";
import { withUnknownEffect } from "../../flow/turns/index.ts";

export async function findDoubts(db: Reads, turns: readonly string[]): Promise<Map<string, TurnDoubt>> {
  const found = new Map<string, TurnDoubt>();
  if (!turns.length) return found;
  const [lost, unknown] = await Promise.all([listLostOf(db, turns), withUnknownEffect(db, turns)]);
  for (const { turn, state } of lost) {
    // What certainly did not arrive says more than what perhaps did.
    if (state !== "uncertain") found.set(turn, "undelivered");
    else if (!found.has(turn)) found.set(turn, "uncertain");
  }
  for (const turn of unknown) found.set(turn, "unknown");
  return found;
}
