/** The engine's own records as others look at them. */
import type { Reads } from "../../../core/contracts/index.ts";
import type { TurnId } from "../../../core/domain/index.ts";

/** How a turn stands in the engine, and when its newest step was recorded. */
export async function readTurnState(
  db: Reads,
  turn: TurnId,
): Promise<{ open: boolean; parked: boolean; lastAt: number } | undefined> {
  const row = await db.get<{ status: string; accepted_at: number; last: number | null }>(
    `SELECT status, accepted_at, (SELECT MAX(COALESCE(ended_at, at)) FROM engine_journal WHERE turn = t.id) AS last
     FROM engine_turn t WHERE id = ?`,
    turn,
  );
  if (!row) return undefined;
  const { status, accepted_at, last } = row;
  return { open: status === "open" || status === "parked", parked: status === "parked", lastAt: last ?? accepted_at };
}

/** When this timer is due; nothing when it is not set. */
export async function slotDue(db: Reads, id: string): Promise<number | undefined> {
  return (await db.get<{ due: number }>("SELECT due FROM engine_slot WHERE id = ?", id))?.due;
}
