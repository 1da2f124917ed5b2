/** Small views over several rooms' records, for the status and the turn's page. */
import type { Reads } from "../core/contracts/index.ts";
import {
  type Authority,
  HEARTBEAT_PREFIX,
  type ReplyRoute,
  type SessionKey,
  type TurnId,
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
