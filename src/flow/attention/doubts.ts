/** What of a turn is not as well as its state says: an action nobody knows the outcome of, an answer that did not arrive. */
import type { Reads } from "../../core/contracts/index.ts";
import type { TurnDoubt } from "../../core/protocol/index.ts";

/** Who knows of it. */
export interface DoubtSources {
  /** Of these turns, those whose messages did not arrive, or perhaps not. */
  lost(db: Reads, turns: readonly string[]): Promise<{ turn: string; state: "failed" | "expired" | "uncertain" }[]>;
  /** Of these turns, those with an effect whose outcome is not known. */
  unknown(db: Reads, turns: readonly string[]): Promise<string[]>;
}

/** The same rows, each with its doubt where there is one. `turn`: which turn a row is about. */
export function makeDoubts(sources: DoubtSources) {
  return async <T>(db: Reads, rows: readonly T[], turn: (row: T) => string | undefined) => {
    const turns = rows.flatMap((row) => turn(row) ?? []);
    const found = new Map<string, TurnDoubt>();
    if (turns.length) {
      const [lost, unknown] = await Promise.all([sources.lost(db, turns), sources.unknown(db, turns)]);
      // What certainly did not arrive says more than what perhaps did.
      for (const one of lost) if (one.state === "uncertain") found.set(one.turn, "uncertain");
      for (const one of lost) if (one.state !== "uncertain") found.set(one.turn, "undelivered");
      for (const one of unknown) found.set(one, "unknown");
    }
    return (row: T): { doubt?: TurnDoubt } => {
      const doubt = found.get(turn(row) ?? "");
      return doubt ? { doubt } : {};
    };
  };
}
