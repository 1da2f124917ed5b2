import type { Reads, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  type Authority,
  type EventLabel,
  type ImagePart,
  INPUT_SUFFIX,
  type InboundMessage,
  isNamedDoor,
  isOwnDoor,
  type LaneClass,
  type PersonId,
  type QueueMode,
  type ReplyRoute,
  type SessionKey,
  type TextPart,
  type TurnId,
} from "../../core/domain/index.ts";
import type { SessionClock, ShownDay } from "./envelope.ts";

export interface AdmittedRow {
  turn: TurnId;
  acceptId: string;
  fingerprint: string | undefined;
  session: SessionKey;
  agent: AgentId;
  person: PersonId;
  route: ReplyRoute;
  lane: LaneClass;
  mode: QueueMode;
  text: string;
  at: number;
  authority: Authority;
  /** Something that happened, not a person. */
  isEvent: boolean;
  isGroup: boolean;
  /** It carries text from outside although its sender is known. */
  outside: boolean;
  /** What was attached, as parts of the message. */
  attached: readonly (TextPart | ImagePart)[];
  /** Lares' own line before it; null for callers that bring their own conversation. */
  envelope: string | null;
  /** The day a reader has in mind after it, and the view it was written for; without a view, the one it is admitted to. */
  shown: { day: ShownDay; view?: number; clock?: SessionClock } | undefined;
  /** What happened, when nobody wrote it. */
  label: EventLabel | undefined;
  /** The group's title and the speaker's name, as the platform gave them. */
  title: string | undefined;
  /** Where a person typed it, beside programs that use the same door. */
  face: InboundMessage["face"];
  name: string | undefined;
  /** False for a command: it has no message for a model. */
  forModel: boolean;
  /** The session is made for one call of a program. One that is there already stays what it is. */
  brief: boolean;
}

/** What an admission leaves with other rooms, in its own transaction. Idempotent. */
export interface AdmittingRooms {
  /** Creates or touches the session. If it has a new reader, the model's view of it is rebuilt. */
  useSession(
    tx: Tx,
    use: Pick<AdmittedRow, "session" | "agent" | "person" | "at" | "brief"> & { mayAddReader: boolean },
  ): void;
  /** A turn waits that will answer the message. */
  queueTurn(
    tx: Tx,
    turn: Omit<AdmittedRow, "mode" | "text" | "outside" | "attached" | "envelope" | "shown" | "label">,
  ): void;
}

/** Everything an admitted message leaves behind, written with the engine's accept. */
export function recordAdmission(tx: Tx, rooms: AdmittingRooms, row: AdmittedRow): void {
  rooms.useSession(tx, { ...row, mayAddReader: !row.isEvent && !isOwnerAgain(row) });
  rooms.queueTurn(tx, row);
  if (!row.forModel) return;
  tx.run(
    `INSERT INTO inbox (turn, session, route, person, mode, text, authority, outside, attached, at, envelope, label,
       shown, shown_view)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, COALESCE(?, (SELECT context_from FROM session WHERE key = ?))) ON CONFLICT (turn) DO NOTHING`,
    row.turn,
    row.session,
    JSON.stringify(row.route),
    row.person,
    row.mode,
    row.text,
    row.authority,
    row.outside ? 1 : 0,
    row.attached.length ? JSON.stringify(row.attached) : null,
    row.at,
    row.envelope,
    row.label ? JSON.stringify(row.label) : null,
    row.shown ? JSON.stringify({ ...row.shown.day, ...row.shown.clock }) : null,
    row.shown?.view ?? null,
    row.session,
  );
}

/**
 * The owner by another of their own channels: there is no new reader, so the session keeps its frozen prompt.
 * Under another name it is somebody whose own memory counts.
 */
function isOwnerAgain({ route, person, authority, isGroup }: AdmittedRow): boolean {
  const { channel, account, chat } = route;
  const door = { channel, account, chat, person, speaker: authority };
  return authority === "owner" && !isGroup && isOwnDoor(door) && !isNamedDoor(door);
}

/** Whose session it is: who began it. */
export async function findPerson(db: Reads, session: SessionKey): Promise<string | undefined> {
  return (await db.get<{ person: string }>("SELECT person FROM session WHERE key = ?", session))?.person;
}

export interface LastMessage {
  at: number;
  channel: string;
  person: string;
  /** Where the model's view begins now. */
  view: number;
  /** Missing when the view has begun elsewhere since then (compacted, undone): the date may no longer be in it. */
  shown?: ShownDay;
  /** Missing in what was written before this was kept, and where a job has its own zone. */
  clock?: SessionClock;
}

/** The newest message of a session; nothing when the model's view of it begins again (new, reset, a new reader). */
export async function lastMessage(db: Reads, session: SessionKey): Promise<LastMessage | undefined> {
  const row = await db.get<Omit<LastMessage, "shown" | "clock"> & { shown: string | null; inView: number | null }>(
    // By way of the turns, which are indexed by session and time: the inbox alone would be read back to the session's last message.
    `SELECT i.at, i.person, json_extract(i.route, '$.channel') AS channel, s.context_from AS view,
       i.shown, i.shown_view = s.context_from AS inView FROM session s
     JOIN turn t ON t.session = s.key JOIN inbox i ON i.turn = t.id
     WHERE s.key = ? AND s.snapshot IS NOT NULL ORDER BY t.accepted_at DESC, i.ord DESC LIMIT 1`,
    session,
  );
  if (!row) return undefined;
  const { shown, inView, ...last } = row;
  if (shown === null) return last;
  const { date, offset, whose, zone } = JSON.parse(shown) as ShownDay & Partial<SessionClock>;
  return {
    ...last,
    ...(inView === 1 ? { shown: { date, offset } } : {}),
    ...(whose !== undefined && zone !== undefined ? { clock: { whose, zone } } : {}),
  };
}

/** Who said it, and whether an edit already took its place. */
export async function readAdmitted(
  db: Reads,
  session: SessionKey,
  turn: TurnId,
): Promise<{ person: string; replaced: boolean } | undefined> {
  const row = await db.get<{ person: string; replaced: string | null }>(
    `SELECT i.person, m.replaced_by AS replaced FROM inbox i LEFT JOIN message m ON m.id = i.turn || '${INPUT_SUFFIX}'
     WHERE i.turn = ? AND i.session = ?`,
    turn,
    session,
  );
  return row && { person: row.person, replaced: row.replaced !== null };
}

/** Open turns that answer the message of `target` or one admitted after it, in order. */
export async function openFrom(db: Reads, session: SessionKey, target: TurnId): Promise<TurnId[]> {
  const rows = await db.all<{ id: TurnId }>(
    `SELECT t.id FROM inbox i JOIN turn t ON t.id IN (i.turn, i.taken_by) AND t.ended_at IS NULL
     WHERE i.session = ? AND i.ord >= (SELECT ord FROM inbox WHERE turn = ?) ORDER BY i.ord`,
    session,
    target,
  );
  return [...new Set(rows.map((row) => row.id))];
}

/** What was asked under this id before. No fingerprint: by an older version, or not by a key. */
export async function readAsked(
  db: Reads,
  acceptId: string,
): Promise<{ session: string; agent: string; fingerprint: string | null } | undefined> {
  return db.get("SELECT session, agent, fingerprint FROM turn WHERE accept_id = ?", acceptId);
}

export function eraseInbox(tx: Tx, session: SessionKey): void {
  tx.run("DELETE FROM inbox WHERE session = ?", session);
}

/** Whose rights something that happens in a session has: a stranger's where a stranger has spoken, else a known person's (I12). */
export async function authorityIn(db: Reads, session: SessionKey): Promise<Authority> {
  const found = await db.get("SELECT 1 FROM inbox WHERE session = ? AND authority = 'stranger' LIMIT 1", session);
  return found === undefined ? "known" : "stranger";
}

/** What was admitted under this id, as it was said. */
export async function admittedText(db: Reads, acceptId: string): Promise<string | undefined> {
  const row = await db.get<{ text: string }>(
    "SELECT i.text FROM turn t JOIN inbox i ON i.turn = t.id WHERE t.accept_id = ?",
    acceptId,
  );
  return row?.text;
}
