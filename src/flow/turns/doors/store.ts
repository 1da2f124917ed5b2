/** Who asked for a turn, how they came in, and where its words may go. */
import type { Reads } from "../../../core/contracts/index.ts";
import { type Authority, PULLED, type ReplyRoute } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";

/** One door: how and as whom somebody came in. */
export interface ChatDoor {
  channel: string;
  account: string;
  chat: string;
  person: string | null;
  /** How they stood then; null in turns of older versions. */
  speaker: Authority | "event" | null;
  isGroup: boolean;
  /** As the platform gave them: for people, never identity. */
  name?: string;
  title?: string;
  /** Where a person typed it, beside programs that use the same door. */
  face?: "terminal" | "page" | "editor";
}

/** How and as whom people came into this session: its first and its newest turns. */
export async function listDoors(db: Reads, session: string): Promise<ChatDoor[]> {
  const turns = (order: string) =>
    `SELECT * FROM (SELECT accepted_at, route, person, speaker, is_group, name, title, face FROM turn WHERE session = ? ORDER BY accepted_at ${order} LIMIT 50) AS t`;
  const rows = await db.all<DoorRow>(
    `SELECT * FROM (${turns("DESC")} UNION ${turns("ASC")}) AS w ORDER BY accepted_at`,
    session,
    session,
  );
  return rows.map(toDoor);
}

/** How many of the latest turns are searched for chats. */
const TURNS_FOR_CHATS = 2000;

/** Chats in which the owner, or somebody the owner knows, talked to this agent; the most recent first. Ids of turns grow with time. */
export async function recentChats(db: Reads, agent: string): Promise<ChatDoor[]> {
  const rows = await db.all<DoorRow>(
    `SELECT route, NULL AS person, NULL AS face, speaker, is_group, name, title FROM
       (SELECT id, agent, route, speaker, is_group, name, title FROM turn ORDER BY id DESC LIMIT ?) AS w
     WHERE agent = ? AND speaker IN ('owner', 'known') ORDER BY id DESC`,
    TURNS_FOR_CHATS,
    agent,
  );
  const found = new Map<string, ChatDoor>();
  for (const row of rows) {
    const door = toDoor(row);
    const key = JSON.stringify([door.channel, door.account, door.chat]);
    if (!found.has(key)) found.set(key, door);
  }
  return [...found.values()];
}

interface DoorRow {
  route: string;
  person: string | null;
  speaker: ChatDoor["speaker"];
  is_group: number;
  name: string | null;
  title: string | null;
  face: ChatDoor["face"] | null;
}

function toDoor({ route, person, speaker, is_group, name, title, face }: DoorRow): ChatDoor {
  const { channel, account, chat } = JSON.parse(route) as ReplyRoute;
  return {
    channel,
    account,
    chat,
    person,
    speaker,
    isGroup: is_group === 1,
    ...truthy({ name, title, face }),
  };
}

/** Whose message each of these turns answers, and where it came from. */
export async function findAskers(
  db: Reads,
  turns: readonly string[],
): Promise<Map<string, { person?: string; channel: string }>> {
  const unique = [...new Set(turns)];
  const rows = await db.all<{ id: string; person: string | null; route: string }>(
    "SELECT id, person, route FROM turn WHERE id IN (SELECT value FROM json_each(?))",
    JSON.stringify(unique),
  );
  return new Map(
    rows.map((row) => [
      row.id,
      { channel: (JSON.parse(row.route) as ReplyRoute).channel, ...truthy({ person: row.person }) },
    ]),
  );
}

/** Where a turn's answer may be shown while it is written. Not to strangers: what they read is looked through first. */
export async function findLivePlace(
  db: Reads,
  turn: string,
): Promise<{ route: ReplyRoute; isPrivate: boolean; isGroup: boolean } | undefined> {
  const row = await db.get<{ route: string; speaker: string | null; is_group: number }>(
    "SELECT route, speaker, is_group FROM turn WHERE id = ? AND COALESCE(speaker, '') <> 'stranger'",
    turn,
  );
  if (!row) return undefined;
  const isGroup = row.is_group !== 0;
  return { route: JSON.parse(row.route) as ReplyRoute, isPrivate: row.speaker === "owner" && !isGroup, isGroup };
}

/** Nobody is pushed to here: the question is on the page and the command line. */
const PAGE: ReplyRoute = { channel: "none", account: "owner", chat: "owner" };

/**
 * Where a question is asked: in the chat it came up in, unless nobody there may answer it. Then in the owner's own chat with the
 * same account, else only on the page (I7: never on some other channel by guess).
 */
export async function findQuestionPlace(
  db: Reads,
  turn: string,
  route: ReplyRoute,
  authority: Authority,
): Promise<ReplyRoute> {
  // Nobody is pushed to there anyway: who fetches the answer finds the question with it.
  if (PULLED.has(route.channel)) return route;
  const row = await db.get<{ speaker: string | null; is_group: number }>(
    "SELECT speaker, is_group FROM turn WHERE id = ?",
    turn,
  );
  const isKnownAlone = row?.speaker === "known" && row.is_group === 0;
  if (authority !== "stranger" && !isKnownAlone) return route;
  const own = await db.get<{ route: string }>(
    `SELECT route FROM turn WHERE speaker = 'owner' AND is_group = 0 AND json_extract(route, '$.channel') = ?
       AND json_extract(route, '$.account') = ? ORDER BY accepted_at DESC LIMIT 1`,
    route.channel,
    route.account,
  );
  return own ? (JSON.parse(own.route) as ReplyRoute) : PAGE;
}

/** Whether anybody but the owner has spoken in a session. */
export async function hasOtherSpeakers(db: Reads, session: string): Promise<boolean> {
  const row = await db.get(
    "SELECT 1 FROM turn WHERE session = ? AND speaker IN ('known', 'stranger') LIMIT 1",
    session,
  );
  return row !== undefined;
}

/** Whether this caller of the API has said something there. */
export async function hasSpokenIn(db: Reads, session: string, account: string): Promise<boolean> {
  const found = await db.get(
    `SELECT 1 FROM turn WHERE session = ? AND json_extract(route, '$.account') = ? AND json_extract(route, '$.channel') IN ('http', 'ws') LIMIT 1`,
    session,
    account,
  );
  return found !== undefined;
}

/** Where a turn's answers go. */
export async function findTurnRoute(db: Reads, turn: string): Promise<ReplyRoute | undefined> {
  const row = await db.get<{ route: string }>("SELECT route FROM turn WHERE id = ?", turn);
  return row && (JSON.parse(row.route) as ReplyRoute);
}

export async function findTurnSession(db: Reads, turn: string): Promise<string | undefined> {
  return (await db.get<{ session: string }>("SELECT session FROM turn WHERE id = ?", turn))?.session;
}
