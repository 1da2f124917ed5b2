/** Turns that need a person or wait for something, as lists over all sessions read them. */
import type { Reads } from "../../../core/contracts/index.ts";
import {
  attentionIdSql,
  attentionSameSql,
  isModelStepSql,
  isToolStepSql,
  SESSION_PREFIX,
} from "../../../core/domain/index.ts";

/** Failures of job runs and sub-agents belong to their job and their asker, which are listed themselves. */
const OWN_TURNS = `t.session NOT LIKE '${SESSION_PREFIX.job}%' AND t.session NOT LIKE '${SESSION_PREFIX.child}%'`;

/** A budget that is used up declines every turn until tomorrow, for the same reason; only what each call may cost differs. */
const SAME_BUDGET = `CASE WHEN t.state = 'declined' AND json_extract(t.result, '$.failure') = 'budget'
    THEN ${attentionSameSql("t.agent", "json_extract(t.result, '$.reason')")} END`;

/** Turns that failed, for the attention list. A partial index finds them: years of good turns cost nothing. */
export const FAILED_TURNS = `SELECT ${attentionIdSql("turn", "t.id")} AS id, t.ended_at AS at, t.session, t.agent, t.id AS turn,
    t.state AS a, t.result AS b, ${SAME_BUDGET} AS same FROM turn t
  WHERE t.state IN ('failed', 'attention', 'declined') AND t.ended_at IS NOT NULL AND ${OWN_TURNS}
    AND (t.state <> 'declined' OR json_extract(t.result, '$.failure') IS NOT NULL)`;

/** The tool that `tool_run` ran, as the model asked for it: `b` of an effect. */
const RUN_INSIDE = `SELECT json_extract(c.value, '$.input.name')
  FROM engine_journal m, json_each(m.payload, '$.reply.content') c
  WHERE m.turn = j.turn AND ${isModelStepSql("m.name")}
    AND ${isToolStepSql("j.name", "tool_run", "json_extract(c.value, '$.id')")}
  ORDER BY m.segment DESC, m.idx DESC LIMIT 1`;

/** Effects of turns whose outcome is not known, likewise. */
export const UNKNOWN_EFFECTS = `SELECT ${attentionIdSql("effect", "j.turn", "j.segment", "j.idx")} AS id,
    COALESCE(j.ended_at, j.at) AS at, t.session, t.agent, j.turn, j.name AS a, (${RUN_INSIDE}) AS b, NULL AS same
  FROM engine_journal j LEFT JOIN turn t ON t.id = j.turn WHERE j.state = 'unknown'`;

/** Whether this turn did something whose outcome is not known. */
export async function hasUnknownEffect(db: Reads, turn: string): Promise<boolean> {
  return (
    (await db.get("SELECT 1 FROM engine_journal WHERE turn = ? AND state = 'unknown' LIMIT 1", turn)) !== undefined
  );
}

/** Turns that wait, with the first of what would wake them; the next deadline first. */
export async function listParked(db: Reads, limit: number) {
  const rows = await db.all<{
    turn: string;
    session: string;
    agent: string;
    deadline: number | null;
    on: string | null;
  }>(
    `SELECT t.id AS turn, t.session, t.agent, e.deadline, json_extract(e.park_on, '$[0]') AS "on" FROM turn t
     JOIN engine_turn e ON e.id = t.id WHERE t.ended_at IS NULL AND t.state = 'parked' ORDER BY e.deadline NULLS FIRST LIMIT ?`,
    limit,
  );
  return rows.map((row) => ({ ...row, on: row.on ?? "" }));
}

/** Of these turns, those with an effect whose outcome is not known. */
export async function withUnknownEffect(db: Reads, turns: readonly string[]): Promise<string[]> {
  const rows = await db.all<{ turn: string }>(
    "SELECT DISTINCT turn FROM engine_journal WHERE state = 'unknown' AND turn IN (SELECT value FROM json_each(?))",
    JSON.stringify(turns),
  );
  return rows.map(({ turn }) => turn);
}
