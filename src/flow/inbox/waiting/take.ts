/**
 * What a turn takes from the inbox for its next model call. Pure decision, exhaustive table in the test.
 *
 * LANES-1: a turn always takes its own message first, in its first call.
 * LANES-2: a message joins another turn only when it would be answered at the same place (I7).
 * LANES-3: `steer` joins whatever runs; `collect` joins a collecting turn before its first call; `followup` and `interrupt` wait
 *     for a separate turn.
 */
import { assertNever, type QueueMode, type TurnId } from "../../../core/domain/index.ts";

export interface Pending {
  turn: TurnId;
  mode: QueueMode;
  route: string;
}

export function taken<T extends Pending>(
  pending: readonly T[],
  by: { turn: TurnId; call: number; route: string },
): T[] {
  const own = pending.find((p) => p.turn === by.turn);
  // A turn whose own message is still in the inbox is at its first call.
  const others = pending.filter((p) => p.turn !== by.turn && p.route === by.route && joins(p.mode, own?.mode, by.call));
  return own ? [own, ...others] : others;
}

/** Whether a message waits that wants this turn out of its way. Data, not a signal: it holds over a crash. */
export function isInterrupted(pending: readonly Pending[], turn: TurnId): boolean {
  return pending.some((p) => p.mode === "interrupt" && p.turn !== turn);
}

function joins(mode: QueueMode, ownMode: QueueMode | undefined, call: number): boolean {
  switch (mode) {
    case "steer":
      return true;
    case "collect":
      return call === 0 && ownMode === "collect";
    case "followup":
    case "interrupt":
      return false;
    default:
      return assertNever(mode);
  }
}
