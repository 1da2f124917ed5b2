/** Jobs and their slots as others look at them. */
import type { Reads } from "../../../core/contracts/index.ts";
import { attentionIdSql, HEARTBEAT_PREFIX, readRunSession } from "../../../core/domain/index.ts";
import type { Job } from "../job.ts";
import { inWords } from "../when.ts";

/** How often a job has come up since then, regardless of the outcome. */
export async function beatsSince(db: Reads, job: string, since: number): Promise<number> {
  const row = await db.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM slot WHERE job = ? AND due >= ? AND state IN ('done', 'failed', 'skipped')",
    job,
    since,
  );
  return row?.n ?? 0;
}

/** What kind of job a session is a run of; undefined when it is none. */
export async function findJobByRun(
  db: Reads,
  session: string,
): Promise<{ isHeartbeat: boolean; isQuiet: boolean; mayPlan: boolean } | undefined> {
  const id = readRunSession(session)?.job;
  if (id === undefined) return undefined;
  const row = await db.get<{ spec: string }>("SELECT spec FROM job WHERE id = ?", id);
  const { kind, quiet, mayPlan } = row ? (JSON.parse(row.spec) as Partial<Job>) : {};
  return { isHeartbeat: kind === "beat", isQuiet: quiet === true, mayPlan: mayPlan === true };
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
  return rows.map(({ spec, ...row }) => {
    const { when, zone, kind } = JSON.parse(spec) as Pick<Job, "when" | "zone" | "kind">;
    return { ...row, kind, words: inWords(when, zone) };
  });
}

/** Jobs of an agent that failed or were missed since then; its heartbeat is not meant. */
export function troublesSince(
  db: Reads,
  agent: string,
  since: number,
): Promise<{ name: string; state: string; n: number; reason: string | null }[]> {
  return db.all(
    `SELECT job.name, slot.state, COUNT(*) AS n, MAX(slot.reason) AS reason FROM slot JOIN job ON job.id = slot.job
     WHERE job.agent = ? AND slot.state IN ('failed', 'missed') AND slot.ended_at > ? AND job.name NOT LIKE '${HEARTBEAT_PREFIX}%'
     GROUP BY job.name, slot.state LIMIT 20`,
    agent,
    since,
  );
}

/** Jobs whose last run failed, for the attention list. */
export const FAILED_JOBS = `SELECT ${attentionIdSql("job", "j.id", "s.due")} AS id, COALESCE(s.ended_at, s.due) AS at,
    NULL AS session, j.agent, s.turn, j.name AS a, s.reason AS b, NULL AS same
  FROM job j JOIN slot s ON s.job = j.id AND s.due = (SELECT MAX(due) FROM slot WHERE job = j.id AND state = 'failed')
  WHERE j.failures > 0`;
