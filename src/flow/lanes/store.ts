import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { Authority, QueueMode, SessionKey, TurnId } from "../../core/domain/index.ts";

export interface InboxRow {
  turn: TurnId;
  mode: QueueMode;
  route: string;
  person: string | null;
  text: string;
  authority: Authority;
  at: number;
}

/** What waits in this session, in the order of admission. */
export function waitingIn(db: Reads, session: SessionKey): Promise<InboxRow[]> {
  return db.all(
    "SELECT turn, mode, route, person, text, authority, at FROM inbox WHERE session = ? AND taken_by IS NULL ORDER BY ord",
    session,
  );
}

export function takenBy(
  db: Reads,
  turn: TurnId,
): Promise<(InboxRow & { taken_by: TurnId | null; taken_call: number | null }) | undefined> {
  return db.get(
    "SELECT turn, mode, route, person, text, authority, at, taken_by, taken_call FROM inbox WHERE turn = ?",
    turn,
  );
}

/** The message leaves the inbox: this call of this turn contains it. */
export function take(tx: Tx, message: TurnId, by: TurnId, call: number): void {
  tx.run("UPDATE inbox SET taken_by = ?, taken_call = ? WHERE turn = ? AND taken_by IS NULL", by, call, message);
}
