import type { Reads, Tx } from "../../core/contracts/index.ts";
import type {
  Authority,
  EventLabel,
  ImagePart,
  QueueMode,
  SessionKey,
  TextPart,
  TurnId,
} from "../../core/domain/index.ts";

export interface InboxRow {
  turn: TurnId;
  mode: QueueMode;
  route: string;
  person: string | null;
  text: string;
  authority: Authority;
  /** 1: it carries text from outside although its sender is known. */
  outside: number;
  at: number;
  /** Lares' own line before it. */
  envelope: string | null;
  /** What happened, when nobody wrote it. */
  label: EventLabel | null;
  /** What came with it, as parts of the message. */
  attached: (TextPart | ImagePart)[];
}
type Stored<T extends InboxRow> = Omit<T, "attached" | "label"> & { attached: string | null; label: string | null };
type TakenRow = InboxRow & { taken_by: TurnId | null; taken_call: number | null };

/** What waits in this session, in the order of admission. */
export async function waitingIn(db: Reads, session: SessionKey): Promise<InboxRow[]> {
  const rows = await db.all<Stored<InboxRow>>(
    `SELECT turn, mode, route, person, text, authority, outside, attached, at, envelope, label FROM inbox
     WHERE session = ? AND taken_by IS NULL ORDER BY ord`,
    session,
  );
  return rows.map((row) => ({ ...row, attached: partsOf(row.attached), label: labelOf(row.label) }));
}

export async function takenBy(db: Reads, turn: TurnId): Promise<TakenRow | undefined> {
  const row = await db.get<Stored<TakenRow>>(
    "SELECT turn, mode, route, person, text, authority, outside, attached, at, envelope, label, taken_by, taken_call FROM inbox WHERE turn = ?",
    turn,
  );
  return row && { ...row, attached: partsOf(row.attached), label: labelOf(row.label) };
}

function labelOf(stored: string | null): InboxRow["label"] {
  return stored === null ? null : (JSON.parse(stored) as InboxRow["label"]);
}

function partsOf(stored: string | null): InboxRow["attached"] {
  return stored === null ? [] : (JSON.parse(stored) as InboxRow["attached"]);
}

/** The message leaves the inbox: this call of this turn contains it. */
export function take(tx: Tx, message: TurnId, by: TurnId, call: number): void {
  tx.run("UPDATE inbox SET taken_by = ?, taken_call = ? WHERE turn = ? AND taken_by IS NULL", by, call, message);
}
