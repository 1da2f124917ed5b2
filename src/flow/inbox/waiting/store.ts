import type { Reads, Tx } from "../../../core/contracts/index.ts";
import {
  type Authority,
  type EventLabel,
  editKeyRange,
  type ImagePart,
  type QueueMode,
  type SessionKey,
  type TextPart,
  type TurnId,
} from "../../../core/domain/index.ts";

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
/** Stands in `taken_by` for a message that was deleted where it was said before any model request contained it. */
const WITHDRAWN = "withdrawn";
type Stored<T extends InboxRow> = Omit<T, "attached" | "label"> & { attached: string | null; label: string | null };
type TakenRow = InboxRow & { taken_by: TurnId | null; taken_call: number | null; withdrawn: boolean };

/** What waits in this session, in the order of admission. */
export async function waitingIn(db: Reads, session: SessionKey): Promise<InboxRow[]> {
  const rows = await db.all<Stored<InboxRow>>(
    `SELECT turn, mode, route, person, text, authority, outside, attached, at, envelope, label FROM inbox
     WHERE session = ? AND taken_by IS NULL ORDER BY ord`,
    session,
  );
  return rows.map((row) => ({ ...row, attached: parseParts(row.attached), label: parseLabel(row.label) }));
}

export async function takenBy(db: Reads, turn: TurnId): Promise<TakenRow | undefined> {
  const row = await db.get<Stored<TakenRow>>(
    "SELECT turn, mode, route, person, text, authority, outside, attached, at, envelope, label, taken_by, taken_call FROM inbox WHERE turn = ?",
    turn,
  );
  if (!row) return undefined;
  const withdrawn = (row.taken_by as string | null) === WITHDRAWN;
  const by = withdrawn ? null : row.taken_by;
  return { ...row, attached: parseParts(row.attached), label: parseLabel(row.label), withdrawn, taken_by: by };
}

function parseLabel(stored: string | null): InboxRow["label"] {
  return stored === null ? null : (JSON.parse(stored) as InboxRow["label"]);
}

function parseParts(stored: string | null): InboxRow["attached"] {
  return stored === null ? [] : (JSON.parse(stored) as InboxRow["attached"]);
}

/** The message leaves the inbox: this call of this turn contains it. A deletion that came while the model had it is too late. */
export function take(tx: Tx, message: TurnId, by: TurnId, call: number): void {
  tx.run(
    "UPDATE inbox SET taken_by = ?, taken_call = ? WHERE turn = ? AND (taken_by IS NULL OR taken_by = ?)",
    by,
    call,
    message,
    WITHDRAWN,
  );
}

/** How many of the messages admitted under this id, or as an edit of it (`ID:…`), still wait. */
export async function waitingUnder(db: Reads, acceptId: string): Promise<number> {
  const edits = editKeyRange(acceptId);
  const row = await db.get<{ n: number }>(
    `SELECT COUNT(*) AS n FROM turn t JOIN inbox i ON i.turn = t.id
     WHERE (t.accept_id = ? OR (t.accept_id > ? AND t.accept_id < ?)) AND i.taken_by IS NULL`,
    acceptId,
    edits.from,
    edits.to,
  );
  return row?.n ?? 0;
}

/** What still waits under this id leaves the inbox unread: its turn ends without an answer. What a model has read stays. */
export function markWithdrawn(tx: Tx, acceptId: string): void {
  const edits = editKeyRange(acceptId);
  tx.run(
    `UPDATE inbox SET taken_by = ? WHERE taken_by IS NULL AND turn IN
     (SELECT id FROM turn WHERE accept_id = ? OR (accept_id > ? AND accept_id < ?))`,
    WITHDRAWN,
    acceptId,
    edits.from,
    edits.to,
  );
}

/** After a restore: nothing that waited in the backup is given to a model. */
export function withdrawAll(tx: Tx): void {
  tx.run("UPDATE inbox SET taken_by = ? WHERE taken_by IS NULL", WITHDRAWN);
}
