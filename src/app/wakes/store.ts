/** Small views over several rooms' records: what a turn did, and what is waited for. */
import type { Reads } from "../../core/contracts/index.ts";
import type { Json, TurnId } from "../../core/domain/index.ts";
import type { Job } from "../../mind/schedule/index.ts";

/** What was said and done in a turn, as text, oldest first. */
export async function recordOfTurn(db: Reads, turn: TurnId): Promise<string> {
  const rows = await db.all<{ role: string; content: string }>(
    "SELECT role, content FROM message WHERE turn = ? AND role <> 'user' ORDER BY session, seq DESC LIMIT 40",
    turn,
  );
  const lines = rows.reverse().flatMap(({ role, content }) =>
    (JSON.parse(content) as { type: string; text?: string; name?: string; input?: Json }[]).flatMap((part) => {
      if (part.type === "tool-call") return [`call ${part.name}: ${JSON.stringify(part.input).slice(0, 500)}`];
      if (part.type === "tool-result") return [`result of ${part.name}: ${(part.text ?? "").slice(-2000)}`];
      return part.type === "text" && part.text ? [`${role}: ${part.text}`] : [];
    }),
  );
  return lines.join("\n");
}

/** Turns that wait, with the first of what would wake them; the next deadline first. */
export async function parkedTurns(db: Reads, limit: number) {
  const rows = await db.all<{
    turn: string;
    session: string;
    agent: string;
    deadline: number | null;
    on: string | null;
  }>(
    `SELECT t.id AS turn, t.session, t.agent, e.deadline, json_extract(e.park_on, '$[0]') AS "on" FROM turn t
     JOIN engine_turn e ON e.id = t.id WHERE t.ended_at IS NULL AND t.state = 'parked' ORDER BY e.deadline LIMIT ?`,
    limit,
  );
  return rows.map((row) => ({ ...row, on: row.on ?? "" }));
}

/** Sub-agents whose results are still to come. */
export function openChildren(db: Reads, limit: number) {
  return db.all<{ turn: string; session: string; parent: string; agent: string; task: string; deadline: number }>(
    `SELECT turn, session, parent_session AS parent, parent_agent AS agent, task, deadline FROM child_run WHERE told = 0
     ORDER BY deadline LIMIT ?`,
    limit,
  );
}

export function runningProcesses(db: Reads, limit: number) {
  return db.all<{ id: string; session: string; agent: string; command: string; madeAt: number }>(
    `SELECT id, session, agent, command, made_at AS madeAt FROM process WHERE state IN ('starting', 'running')
     ORDER BY made_at LIMIT ?`,
    limit,
  );
}

export function eventsWaiting(db: Reads, limit: number) {
  return db.all<{ session: string; agent: string; n: number; at: number }>(
    `SELECT session, MIN(agent) AS agent, COUNT(*) AS n, MIN(at) AS at FROM system_event WHERE told IS NULL
     GROUP BY session LIMIT ?`,
    limit,
  );
}

/** The next slots that are due, of thousands of jobs. */
export async function nextSlots(db: Reads, limit: number) {
  const rows = await db.all<{
    id: string;
    due: number;
    name: string;
    agent: string;
    spec: string;
    problem: string | null;
  }>(
    `SELECT s.job AS id, s.due, j.name, j.agent, j.spec, CASE WHEN j.failures > 0 THEN j.signature END AS problem FROM slot s
     JOIN job j ON j.id = s.job WHERE s.state = 'pending' AND j.enabled = 1 ORDER BY s.due LIMIT ?`,
    limit,
  );
  return rows.map(({ spec, ...row }) => ({ ...row, spec: JSON.parse(spec) as Pick<Job, "when" | "zone" | "kind"> }));
}
