/** Small views over several rooms' records, for the status and the turn's page. */
import type { Reads, SqlValue } from "../core/contracts/index.ts";
import {
  type Authority,
  HEARTBEAT_PREFIX,
  type ReplyRoute,
  readRunSession,
  runSessions,
  type SessionKey,
  type TurnId,
  type Usage,
} from "../core/domain/index.ts";
import { quotedName } from "../core/kit/index.ts";

export async function countOpen(db: Reads, running: (session: SessionKey) => TurnId | undefined) {
  // Those that wait for a person may be thousands: they are counted in the index, not read.
  const open = await db.all<{ id: TurnId; session: SessionKey }>(
    "SELECT id, session FROM turn WHERE ended_at IS NULL AND state <> 'parked'",
  );
  const waiting = await db.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM turn WHERE ended_at IS NULL AND state = 'parked'",
  );
  const pending = await db.get<{ n: number }>("SELECT COUNT(*) AS n FROM approval WHERE state = 'pending'");
  const deliveries = await db.all<{ state: string; n: number }>(
    "SELECT state, COUNT(*) AS n FROM delivery WHERE state <> 'sent' GROUP BY state",
  );
  const count = (...states: string[]) =>
    deliveries.filter((d) => states.includes(d.state)).reduce((sum, d) => sum + d.n, 0);
  const active = open.filter((t) => running(t.session) === t.id).length;
  return {
    turns: { queued: Math.max(open.length - active, 0), running: active, parked: waiting?.n ?? 0 },
    approvals: { pending: pending?.n ?? 0 },
    deliveries: {
      waiting: count("intended", "sending"),
      uncertain: count("uncertain"),
      failed: count("failed", "expired"),
    },
  };
}

export function usageSince(db: Reads, at: number): Promise<UsageSum> {
  return sumUsage(db, "at >= ?", at);
}

/** What one session's model calls used. */
export function usageOfSession(db: Reads, session: string): Promise<UsageSum> {
  return sumUsage(db, "session = ?", session);
}

/** What the runs of one job used since then. */
export function usageOfRuns(db: Reads, job: string, since: number): Promise<UsageSum> {
  const { from, to } = runSessions(job);
  return sumUsage(db, "at >= ? AND session >= ? AND session < ?", since, from, to);
}

/** How often a job came up since then, whatever became of it. */
export async function beatsSince(db: Reads, job: string, since: number): Promise<number> {
  const row = await db.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM slot WHERE job = ? AND due >= ? AND state IN ('done', 'failed', 'skipped')",
    job,
    since,
  );
  return row?.n ?? 0;
}

/** What happened to an agent after a moment, as a heartbeat is told of it. */
export async function newsOf(db: Reads, agent: string, since: number): Promise<string[]> {
  const events = await db.all<{ source: string; n: number }>(
    "SELECT source, COUNT(*) AS n FROM system_event WHERE agent = ? AND at > ? GROUP BY source LIMIT 20",
    agent,
    since,
  );
  const jobs = await db.all<{ name: string; state: string; n: number; reason: string | null }>(
    `SELECT job.name, slot.state, COUNT(*) AS n, MAX(slot.reason) AS reason FROM slot JOIN job ON job.id = slot.job
     WHERE job.agent = ? AND slot.state IN ('failed', 'missed') AND slot.ended_at > ? AND job.name NOT LIKE '${HEARTBEAT_PREFIX}%'
     GROUP BY job.name, slot.state LIMIT 20`,
    agent,
    since,
  );
  const asked = await db.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM approval WHERE state = 'pending' AND asked_at > ? AND agent = ?",
    since,
    agent,
  );
  return [
    ...events.map(({ source, n }) => `${n} ${n === 1 ? "event" : "events"} from ${source}.`),
    ...jobs.map(
      ({ name, state, n, reason }) =>
        `The job ${quotedName(name)} ${state} ${n} ${n === 1 ? "time" : "times"}: ${reason}`,
    ),
    ...(asked?.n
      ? [`${asked.n} new ${asked.n === 1 ? "question waits" : "questions wait"} for a person's answer.`]
      : []),
  ];
}

/**
 * `cost` is what is known of it; null when no call's price is known. `unknownPrice` calls come on top: a sum is never shown
 * without them, and they never hide it.
 */
export type UsageSum = Usage & { calls: number; unknownPrice: number };

function knownCost(known: number, calls: number, unknown: number): number | null {
  return calls > 0 && unknown === calls ? null : known;
}

async function sumUsage(db: Reads, where: string, ...values: SqlValue[]): Promise<UsageSum> {
  const row = await db.get<{ i: number; o: number; r: number; w: number; c: number; unknown: number; n: number }>(
    `SELECT COALESCE(SUM(input_tokens), 0) AS i, COALESCE(SUM(output_tokens), 0) AS o,
       COALESCE(SUM(cache_read_tokens), 0) AS r, COALESCE(SUM(cache_write_tokens), 0) AS w,
       COALESCE(SUM(cost), 0) AS c, COUNT(*) - COUNT(cost) AS unknown, COUNT(*) AS n FROM usage WHERE ${where}`,
    ...values,
  );
  return {
    inputTokens: row?.i ?? 0,
    outputTokens: row?.o ?? 0,
    cacheReadTokens: row?.r ?? 0,
    cacheWriteTokens: row?.w ?? 0,
    cost: knownCost(row?.c ?? 0, row?.n ?? 0, row?.unknown ?? 0),
    calls: row?.n ?? 0,
    unknownPrice: row?.unknown ?? 0,
  };
}

export async function deliveriesOf(db: Reads, turn: TurnId) {
  const rows = await db.all<{ id: string; state: string; route: string; attempts: number; error: string | null }>(
    "SELECT id, state, route, attempts, error FROM delivery WHERE turn = ? ORDER BY created_at, id",
    turn,
  );
  return rows.map((row) => ({
    id: row.id,
    state: row.state as "sent",
    channel: (JSON.parse(row.route) as ReplyRoute).channel,
    attempts: row.attempts,
    ...(row.error ? { error: row.error } : {}),
  }));
}

/** Whose message each of these turns answers, and where it came from. */
export async function askersOf(
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
      { channel: (JSON.parse(row.route) as ReplyRoute).channel, ...(row.person ? { person: row.person } : {}) },
    ]),
  );
}

interface UsageRow {
  name: string;
  calls: number;
  i: number;
  o: number;
  r: number;
  w: number;
  c: number;
  unknown: number;
}

export type UsageBy = "day" | "model" | "agent" | "total";

/** What was used between two times, summed by something. `offsetMs`: where days begin. */
export async function usageBy(
  db: Reads,
  by: UsageBy,
  q: { from: number; to: number; offsetMs: number; agent?: string },
): Promise<{ name: string; usage: UsageSum }[]> {
  const column = {
    day: "strftime('%Y-%m-%d', (at + ?) / 1000, 'unixepoch')",
    model: "model",
    agent: "agent",
    total: "'total'",
  }[by];
  const rows = await db.all<UsageRow>(
    `SELECT ${column} AS name, COUNT(*) AS calls, SUM(input_tokens) AS i, SUM(output_tokens) AS o,
       SUM(cache_read_tokens) AS r, SUM(cache_write_tokens) AS w, COALESCE(SUM(cost), 0) AS c,
       COUNT(*) - COUNT(cost) AS unknown
     FROM usage WHERE at >= ? AND at < ? AND (? = '' OR agent = ?) GROUP BY 1 ORDER BY 1`,
    ...(by === "day" ? [q.offsetMs] : []),
    q.from,
    q.to,
    q.agent ?? "",
    q.agent ?? "",
  );
  return rows.map((row) => ({
    name: row.name,
    usage: {
      inputTokens: row.i,
      outputTokens: row.o,
      cacheReadTokens: row.r,
      cacheWriteTokens: row.w,
      cost: knownCost(row.c, row.calls, row.unknown),
      calls: row.calls,
      unknownPrice: row.unknown,
    },
  }));
}

export async function sessionsPerAgent(db: Reads): Promise<Map<string, number>> {
  const rows = await db.all<{ agent: string; n: number }>("SELECT agent, COUNT(*) AS n FROM session GROUP BY agent");
  return new Map(rows.map((row) => [row.agent, row.n]));
}

/** Deliveries of one channel account, by state, and the newest error. */
export async function deliveriesOn(db: Reads, channel: string, account: string) {
  const rows = await db.all<{ state: string; n: number }>(
    `SELECT state, COUNT(*) AS n FROM delivery
     WHERE json_extract(route, '$.channel') = ? AND json_extract(route, '$.account') = ? GROUP BY state`,
    channel,
    account,
  );
  const failed = await db.get<{ error: string | null }>(
    `SELECT error FROM delivery WHERE json_extract(route, '$.channel') = ? AND json_extract(route, '$.account') = ?
     AND error IS NOT NULL ORDER BY updated_at DESC LIMIT 1`,
    channel,
    account,
  );
  const count = (...states: string[]) => rows.filter((r) => states.includes(r.state)).reduce((sum, r) => sum + r.n, 0);
  return {
    deliveries: {
      waiting: count("intended", "sending"),
      sent: count("sent"),
      uncertain: count("uncertain"),
      failed: count("failed", "expired"),
    },
    ...(failed?.error ? { lastError: failed.error } : {}),
  };
}

export async function figures(db: Reads) {
  return {
    turns: await db.all<{ state: string; n: number }>("SELECT state, COUNT(*) AS n FROM turn GROUP BY state"),
    deliveries: await db.all<{ state: string; n: number }>("SELECT state, COUNT(*) AS n FROM delivery GROUP BY state"),
    models: await db.all<{ model: string; calls: number; i: number; o: number; r: number; w: number; c: number }>(
      `SELECT model, COUNT(*) AS calls, SUM(input_tokens) AS i, SUM(output_tokens) AS o, SUM(cache_read_tokens) AS r,
         SUM(cache_write_tokens) AS w, COALESCE(SUM(cost), 0) AS c FROM usage GROUP BY model`,
    ),
    pending: (await db.get<{ n: number }>("SELECT COUNT(*) AS n FROM approval WHERE state = 'pending'"))?.n ?? 0,
  };
}

/** Whether text from outside is in this session's history (I12). */
export async function hasReadOutside(db: Reads, session: SessionKey): Promise<boolean> {
  return (await db.get("SELECT 1 FROM message WHERE session = ? AND outside = 1 LIMIT 1", session)) !== undefined;
}

/** Whose rights something that happens in a session has: a stranger's where a stranger has spoken, else a known person's (I12). */
export async function authorityIn(db: Reads, session: SessionKey): Promise<Authority> {
  const found = await db.get("SELECT 1 FROM inbox WHERE session = ? AND authority = 'stranger' LIMIT 1", session);
  return found === undefined ? "known" : "stranger";
}

/** Where a turn's answer may be shown while it is written. Not to strangers: what they read is looked through first. */
export async function livePlaceOf(
  db: Reads,
  turn: string,
): Promise<{ route: ReplyRoute; isPrivate: boolean } | undefined> {
  const row = await db.get<{ route: string; speaker: string | null; is_group: number }>(
    "SELECT route, speaker, is_group FROM turn WHERE id = ? AND COALESCE(speaker, '') <> 'stranger'",
    turn,
  );
  if (!row) return undefined;
  return { route: JSON.parse(row.route) as ReplyRoute, isPrivate: row.speaker === "owner" && row.is_group === 0 };
}

/** Nobody is pushed to here: the question is on the page and the command line. */
const PAGE: ReplyRoute = { channel: "none", account: "owner", chat: "owner" };

/**
 * Where a question is asked: in the chat it came up in, unless nobody there may answer it. Then in the owner's own chat with the
 * same account, else only on the page (I7: never on some other channel by guess).
 */
export async function placeOfQuestion(
  db: Reads,
  turn: string,
  route: ReplyRoute,
  authority: Authority,
): Promise<ReplyRoute> {
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

/** A child may have asked for a child; deeper than this nobody gets. */
const MOST_ABOVE = 12;

/**
 * Who asked for something that the owner is asked about: the person with these rights whose message the turn took, or the turn
 * that started it. Names are other people's words, so they stand in quotes.
 */
export async function askerOf(db: Reads, turn: string, authority: Authority): Promise<string | undefined> {
  if (authority !== "stranger" && authority !== "known") return undefined;
  const row = await db.get<{ route: string; person: string; name: string | null }>(
    `WITH RECURSIVE up (id, depth) AS (
       SELECT ?, 0 UNION SELECT c.parent_turn, up.depth + 1 FROM up JOIN child_run c ON c.turn = up.id WHERE up.depth < ?
     ), heard (id, depth) AS (
       SELECT id, depth FROM up
       UNION SELECT i.turn, up.depth FROM up JOIN turn t ON t.id = up.id
         JOIN turn j ON j.session = t.session AND j.accepted_at >= t.accepted_at
         JOIN inbox i ON i.turn = j.id AND i.taken_by = up.id
     )
     SELECT t.route, t.person, t.name FROM heard JOIN turn t ON t.id = heard.id
     WHERE t.speaker = ? AND t.person IS NOT NULL ORDER BY heard.depth DESC, t.accepted_at DESC LIMIT 1`,
    turn,
    MOST_ABOVE,
    authority,
  );
  const who = authority === "stranger" ? "a guest" : "a person you know";
  if (!row) return authority === "stranger" ? `Asked by ${who}.` : undefined;
  const { channel, account } = JSON.parse(row.route) as ReplyRoute;
  const id = quotedName(row.person.slice(row.person.lastIndexOf(":") + 1));
  const name = row.name && quotedName(row.name) !== id ? `${quotedName(row.name)}, ` : "";
  return `Asked by ${who} on ${channel}/${account}: ${name}${id}.`;
}

/** Whether anybody but the owner has spoken in a session. */
export async function hasOtherSpeakers(db: Reads, session: string): Promise<boolean> {
  const row = await db.get(
    "SELECT 1 FROM turn WHERE session = ? AND speaker IN ('known', 'stranger') LIMIT 1",
    session,
  );
  return row !== undefined;
}

/** Where a turn's answers go. */
export async function routeOfTurn(db: Reads, turn: string): Promise<ReplyRoute | undefined> {
  const row = await db.get<{ route: string }>("SELECT route FROM turn WHERE id = ?", turn);
  return row && (JSON.parse(row.route) as ReplyRoute);
}

export async function agentOf(db: Reads, session: string): Promise<string | undefined> {
  return (await db.get<{ agent: string }>("SELECT agent FROM session WHERE key = ?", session))?.agent;
}

/** How a turn stands in the engine, and when its newest step was recorded. */
export async function standingOf(
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

/** One door: how and as whom somebody came in. */
export interface Door {
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
  face?: "terminal" | "page";
}

/** How and as whom people came into this session: its first and its newest turns. */
export async function doorsOf(db: Reads, session: string): Promise<Door[]> {
  const turns = (order: string) =>
    `SELECT * FROM (SELECT accepted_at, route, person, speaker, is_group, name, title, face FROM turn WHERE session = ? ORDER BY accepted_at ${order} LIMIT 50)`;
  const rows = await db.all<DoorRow>(
    `SELECT * FROM (${turns("DESC")} UNION ${turns("ASC")}) ORDER BY accepted_at`,
    session,
    session,
  );
  return rows.map(doorOf);
}

interface DoorRow {
  route: string;
  person: string | null;
  speaker: Door["speaker"];
  is_group: number;
  name: string | null;
  title: string | null;
  face: Door["face"] | null;
}

function doorOf({ route, person, speaker, is_group, name, title, face }: DoorRow): Door {
  const { channel, account, chat } = JSON.parse(route) as ReplyRoute;
  return {
    ...{ channel, account, chat, person, speaker, isGroup: is_group === 1 },
    ...(name ? { name } : {}),
    ...(title ? { title } : {}),
    ...(face ? { face } : {}),
  };
}

/** So many of the newest turns are looked through for chats, however many there are. */
const TURNS_FOR_CHATS = 2000;

/** Chats in which the owner, or somebody the owner knows, talked to this agent; the most recent first. Ids of turns grow with time. */
export async function recentChats(db: Reads, agent: string): Promise<Door[]> {
  const rows = await db.all<DoorRow>(
    `SELECT route, NULL AS person, NULL AS face, speaker, is_group, name, title FROM
       (SELECT id, agent, route, speaker, is_group, name, title FROM turn ORDER BY id DESC LIMIT ?)
     WHERE agent = ? AND speaker IN ('owner', 'known') ORDER BY id DESC`,
    TURNS_FOR_CHATS,
    agent,
  );
  const found = new Map<string, Door>();
  for (const row of rows) {
    const door = doorOf(row);
    const key = JSON.stringify([door.channel, door.account, door.chat]);
    if (!found.has(key)) found.set(key, door);
  }
  return [...found.values()];
}

/** What kind of job a session is a run of; undefined when it is none. */
export async function jobOfRun(
  db: Reads,
  session: string,
): Promise<{ isHeartbeat: boolean; isQuiet: boolean; mayPlan: boolean } | undefined> {
  const id = readRunSession(session)?.job;
  if (id === undefined) return undefined;
  const row = await db.get<{ kind: string; quiet: number | null; plans: number | null }>(
    "SELECT kind, json_extract(spec, '$.quiet') AS quiet, json_extract(spec, '$.mayPlan') AS plans FROM job WHERE id = ?",
    id,
  );
  return { isHeartbeat: row?.kind === "beat", isQuiet: row?.quiet === 1, mayPlan: row?.plans === 1 };
}

/** The prompt a session has, and when the session began. */
export async function promptOf(db: Reads, session: string): Promise<{ system: string; since: number } | undefined> {
  return db.get(
    `SELECT COALESCE(p.system, '') AS system, s.created_at AS since FROM session s
     LEFT JOIN prompt p ON p.hash = s.prompt WHERE s.key = ?`,
    session,
  );
}

/** When this timer is due; nothing when it is not set. */
export async function slotDue(db: Reads, id: string): Promise<number | undefined> {
  return (await db.get<{ due: number }>("SELECT due FROM engine_slot WHERE id = ?", id))?.due;
}

export async function hasSession(db: Reads, session: string): Promise<boolean> {
  return (await db.get("SELECT 1 FROM session WHERE key = ?", session)) !== undefined;
}

export async function sessionOfTurn(db: Reads, turn: string): Promise<string | undefined> {
  return (await db.get<{ session: string }>("SELECT session FROM turn WHERE id = ?", turn))?.session;
}

/** Whether this caller of the API has said something there. */
export async function hasSpokenIn(db: Reads, session: string, account: string): Promise<boolean> {
  const found = await db.get(
    `SELECT 1 FROM turn WHERE session = ? AND route ->> '$.account' = ? AND route ->> '$.channel' IN ('http', 'ws') LIMIT 1`,
    session,
    account,
  );
  return found !== undefined;
}
