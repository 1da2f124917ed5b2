/** Small views over several rooms' records: what a turn did, and what is waited for. */
import type { Reads } from "../../core/contracts/index.ts";

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
