import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { ScheduleId, SessionKey, TurnId } from "../../core/domain/index.ts";
import { type Job, type SlotState, USUAL } from "./job.ts";

interface JobRow {
  spec: string;
  enabled: number;
  failures: number;
  signature: string | null;
}

export interface Slot {
  job: ScheduleId;
  due: number;
  state: SlotState;
  reason: string | null;
  turn: TurnId | null;
  started_at: number | null;
  ended_at: number | null;
  output: string | null;
}

const SLOT = "job, due, state, reason, turn, started_at, ended_at, output";

export function saveJob(tx: Tx, job: Job, at: number): void {
  const { enabled, failures, ...spec } = job;
  tx.run(
    `INSERT INTO job (id, name, agent, spec, enabled, declared, failures, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, agent = excluded.agent, spec = excluded.spec,
       enabled = excluded.enabled, declared = excluded.declared, failures = excluded.failures, updated_at = excluded.updated_at`,
    job.id,
    job.name,
    job.agent,
    JSON.stringify(spec),
    enabled ? 1 : 0,
    job.declared ? 1 : 0,
    failures,
    at,
    at,
  );
}

export async function readJob(db: Reads, idOrName: string): Promise<Job | undefined> {
  const row = await db.get<JobRow>(
    "SELECT spec, enabled, failures, signature FROM job WHERE id = ? OR name = ?",
    idOrName,
    idOrName,
  );
  return row && job(row);
}

/** A place in the list of jobs: the next due time, then the name. */
export type Mark = readonly [due: number, name: string];

/** Jobs that will not come by themselves stand behind all that will. */
const NEVER = Number.MAX_SAFE_INTEGER;

export interface JobQuery {
  agent?: string | undefined;
  /** A part of the name or of the id. */
  search?: string | undefined;
  /** Also reminders and other single runs that are over. */
  finished?: boolean | undefined;
}

/** A job that ran once and will not come again. It leaves the list; its history stays. */
const IS_FINISHED = `job.enabled = 1 AND p.due IS NULL AND json_extract(job.spec, '$.when.kind') = 'at'
  AND COALESCE((SELECT state FROM slot WHERE slot.job = job.id ORDER BY due DESC LIMIT 1), 'done') IN ('done', 'skipped')`;

/** Work with its next due time. Both conditions of `state`: the first is that of the index. */
function planned({ agent, search, finished }: JobQuery): { sql: string; params: string[] } {
  const isNamed = "(instr(lower(job.name), lower(?)) > 0 OR instr(lower(job.id), lower(?)) > 0)";
  const sql = `
    SELECT job.spec, job.enabled, job.failures, job.signature, job.name,
      CASE WHEN job.enabled = 1 AND p.due IS NOT NULL THEN p.due ELSE ${NEVER} END AS due
    FROM job LEFT JOIN (
      SELECT job, MIN(due) AS due FROM slot WHERE state IN ('pending', 'running') AND state = 'pending' GROUP BY job
    ) p ON p.job = job.id
    WHERE job.kind = 'work' ${agent ? "AND job.agent = ?" : ""} ${search ? `AND ${isNamed}` : ""}
      ${finished ? "" : `AND NOT (${IS_FINISHED})`}`;
  return { sql, params: [...(agent ? [agent] : []), ...(search ? [search, search] : [])] };
}

/** The next due first, then by name. */
export async function listJobPage(
  db: Reads,
  q: JobQuery & { after?: Mark | undefined; limit: number },
): Promise<{ job: Job; mark: Mark; next: number | undefined }[]> {
  const [due, name] = q.after ?? [-1, ""];
  const { sql, params } = planned(q);
  const rows = await db.all<JobRow & { name: string; due: number }>(
    `SELECT * FROM (${sql}) w WHERE due > ? OR (due = ? AND name > ?) ORDER BY due, name LIMIT ?`,
    ...[...params, due, due, name, q.limit],
  );
  return rows.map((row) => ({
    job: job(row),
    mark: [row.due, row.name],
    next: row.due === NEVER ? undefined : row.due,
  }));
}

export async function countJobs(db: Reads, q: JobQuery): Promise<{ total: number; planned: number }> {
  const { sql, params } = planned(q);
  const row = await db.get<{ total: number; planned: number | null }>(
    `SELECT COUNT(*) AS total, SUM(CASE WHEN due < ${NEVER} THEN 1 ELSE 0 END) AS planned FROM (${sql}) w`,
    ...params,
  );
  return { total: row?.total ?? 0, planned: row?.planned ?? 0 };
}

/** How many jobs an agent made in this turn, the finished ones included. */
export async function countMadeIn(db: Reads, agent: string, turn: string): Promise<number> {
  const row = await db.get<{ made: number }>(
    "SELECT COUNT(*) AS made FROM job WHERE agent = ? AND json_extract(spec, '$.madeIn') = ?",
    agent,
    turn,
  );
  return row?.made ?? 0;
}

export async function listJobs(db: Reads, kind: Job["kind"]): Promise<Job[]> {
  const sql = "SELECT spec, enabled, failures, signature FROM job WHERE kind = ? ORDER BY name";
  return (await db.all<JobRow>(sql, kind)).map(job);
}

/** The job that this creator made earlier. */
export async function jobMadeBy(db: Reads, createdBy: string): Promise<Job | undefined> {
  const row = await db.get<JobRow>(
    "SELECT spec, enabled, failures, signature FROM job WHERE json_extract(spec, '$.createdBy') = ?",
    createdBy,
  );
  return row && job(row);
}

export async function declaredJobs(db: Reads): Promise<Job[]> {
  const rows = await db.all<JobRow>("SELECT spec, enabled, failures, signature FROM job WHERE declared = 1");
  return rows.map(job);
}

function job(row: JobRow): Job {
  return {
    ...USUAL,
    ...(JSON.parse(row.spec) as Omit<Job, "enabled" | "failures">),
    enabled: row.enabled === 1,
    failures: row.failures,
  };
}

export function deleteJob(tx: Tx, id: ScheduleId): void {
  tx.run("DELETE FROM slot WHERE job = ?", id);
  tx.run("DELETE FROM job WHERE id = ?", id);
}

/** Creates a slot. Idempotent. */
export function makeSlot(tx: Tx, id: ScheduleId, due: number): void {
  tx.run("INSERT INTO slot (job, due, state) VALUES (?, ?, 'pending') ON CONFLICT (job, due) DO NOTHING", id, due);
}

/** Pending slots of a job that will not come: its schedule changed or it was paused. */
export function dropPending(tx: Tx, id: ScheduleId): void {
  tx.run("DELETE FROM slot WHERE job = ? AND state = 'pending'", id);
}

/** Ends an open slot; one that has ended keeps its end. */
export function closeSlot(
  tx: Tx,
  slot: { job: ScheduleId; due: number },
  end: { state: SlotState; reason?: string | null; output?: string | null; at: number },
): void {
  tx.run(
    `INSERT INTO slot (job, due, state, reason, output, ended_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (job, due) DO UPDATE SET state = excluded.state, reason = excluded.reason, output = excluded.output,
       ended_at = excluded.ended_at
     WHERE slot.state IN ('pending', 'running')`,
    slot.job,
    slot.due,
    end.state,
    end.reason ?? null,
    end.output ?? null,
    end.at,
  );
}

/** A slot that was done turns out not to have been: nobody got the answer. */
export function spoilSlot(tx: Tx, slot: { job: ScheduleId; due: number }, state: SlotState, reason: string): void {
  tx.run(
    "UPDATE slot SET state = ?, reason = ? WHERE job = ? AND due = ? AND state = 'done' AND reason IS NULL",
    state,
    reason,
    slot.job,
    slot.due,
  );
}

export function startSlot(
  tx: Tx,
  slot: { job: ScheduleId; due: number },
  run: { turn: TurnId; at: number; session: SessionKey; until: number | null; seen: string | null },
): void {
  tx.run(
    `INSERT INTO slot (job, due, state, turn, started_at) VALUES (?, ?, 'running', ?, ?)
     ON CONFLICT (job, due) DO UPDATE SET state = 'running', turn = excluded.turn, started_at = excluded.started_at
     WHERE slot.state = 'pending'`,
    slot.job,
    slot.due,
    run.turn,
    run.at,
  );
  if (run.until !== null) keepSession(tx, { session: run.session, job: slot.job, until: run.until });
  if (run.seen !== null) setSeen(tx, slot.job, run.seen);
}

export function setSeen(tx: Tx, id: ScheduleId, seen: string | null): void {
  tx.run("UPDATE job SET seen = ? WHERE id = ?", seen, id);
}

export async function seenBy(db: Reads, id: ScheduleId): Promise<string | null> {
  return (await db.get<{ seen: string | null }>("SELECT seen FROM job WHERE id = ?", id))?.seen ?? null;
}

/** One failure more, if this slot is still open: the same end told twice counts once. */
export function countFailure(tx: Tx, slot: { job: ScheduleId; due: number }): void {
  tx.run(
    `UPDATE job SET failures = failures + 1 WHERE id = ?
       AND EXISTS (SELECT 1 FROM slot WHERE job = ? AND due = ? AND state IN ('pending', 'running', 'done'))`,
    slot.job,
    slot.job,
    slot.due,
  );
}

export function setHealth(tx: Tx, id: ScheduleId, health: { told: string | null; enabled: boolean }): void {
  tx.run("UPDATE job SET signature = ?, enabled = ? WHERE id = ?", health.told, health.enabled ? 1 : 0, id);
}

export function clearFailures(tx: Tx, id: ScheduleId): void {
  tx.run("UPDATE job SET failures = 0, signature = NULL WHERE id = ?", id);
}

/** The signature of the failure somebody was last told about. */
export async function findTold(db: Reads, id: ScheduleId): Promise<string | null> {
  return (await db.get<{ signature: string | null }>("SELECT signature FROM job WHERE id = ?", id))?.signature ?? null;
}

export function findSlot(db: Reads, turn: TurnId): Promise<Slot | undefined> {
  return db.get(`SELECT ${SLOT} FROM slot WHERE turn = ?`, turn);
}

/** Slots whose turn may have ended while nobody looked. */
export function runningSlots(db: Reads): Promise<Slot[]> {
  return db.all(`SELECT ${SLOT} FROM slot WHERE state = 'running'`);
}

export function listRunningSlots(db: Reads, id: ScheduleId): Promise<Slot[]> {
  return db.all(`SELECT ${SLOT} FROM slot WHERE job = ? AND state = 'running' ORDER BY due DESC LIMIT 5`, id);
}

export function listSlots(db: Reads, id: string, limit: number): Promise<Slot[]> {
  return db.all(`SELECT ${SLOT} FROM slot WHERE job = ? ORDER BY due DESC LIMIT ?`, id, limit);
}

export async function hasSlot(db: Reads, id: string, due: number): Promise<boolean> {
  return (await db.get("SELECT 1 FROM slot WHERE job = ? AND due = ?", id, due)) !== undefined;
}

/** What the job's last good run said. */
export function lastOutput(db: Reads, id: string): Promise<{ output: string; ended_at: number } | undefined> {
  return db.get(
    `SELECT output, ended_at FROM slot WHERE job = ? AND state = 'done' AND output IS NOT NULL
     ORDER BY due DESC LIMIT 1`,
    id,
  );
}

export async function pendingDue(db: Reads, id: ScheduleId): Promise<number | undefined> {
  return (
    (await db.get<{ due: number }>("SELECT MIN(due) AS due FROM slot WHERE job = ? AND state = 'pending'", id))?.due ??
    undefined
  );
}

/** The zone this person set. */
/** Finds the zone a person reads clocks in: their own, else the owner's. */
export function makeZoneFinder(db: Reads, ownerZone: () => string): (person?: string) => Promise<string> {
  return async (person) => {
    const sql = "SELECT zone FROM person_zone WHERE person = ?";
    const own = person === undefined ? undefined : await db.get<{ zone: string }>(sql, person);
    return own?.zone ?? ownerZone();
  };
}

export function setZone(tx: Tx, z: { person: string; zone: string; at: number }): void {
  tx.run(
    `INSERT INTO person_zone (person, zone, set_at) VALUES (?, ?, ?)
     ON CONFLICT (person) DO UPDATE SET zone = excluded.zone, set_at = excluded.set_at`,
    z.person,
    z.zone,
    z.at,
  );
}

export function forgetZone(tx: Tx, person: string): void {
  tx.run("DELETE FROM person_zone WHERE person = ?", person);
}

export function keepSession(tx: Tx, s: { session: SessionKey; job: ScheduleId; until: number }): void {
  tx.run(
    `INSERT INTO run_session (session, job, until) VALUES (?, ?, ?)
     ON CONFLICT (session) DO UPDATE SET until = excluded.until`,
    s.session,
    s.job,
    s.until,
  );
}

export async function sessionsKeptUntil(db: Reads, now: number, limit: number): Promise<SessionKey[]> {
  const rows = await db.all<{ session: SessionKey }>(
    "SELECT session FROM run_session WHERE until <= ? ORDER BY until LIMIT ?",
    now,
    limit,
  );
  return rows.map((row) => row.session);
}

export function forgetSession(tx: Tx, session: SessionKey): void {
  tx.run("DELETE FROM run_session WHERE session = ?", session);
}

/** Whether this job ran once and will not come again. */
export async function isFinished(db: Reads, id: ScheduleId): Promise<boolean> {
  const sql = `SELECT 1 FROM job LEFT JOIN (
      SELECT job, MIN(due) AS due FROM slot WHERE job = ? AND state = 'pending' GROUP BY job
    ) p ON p.job = job.id WHERE job.id = ? AND ${IS_FINISHED}`;
  return (await db.get(sql, id, id)) !== undefined;
}

/** Deletes old finished slots; those of heartbeats that found nothing go sooner. */
export function pruneSlots(tx: Tx, before: { any: number; quietBeats: number }): void {
  tx.run("DELETE FROM slot WHERE ended_at < ? AND state NOT IN ('pending', 'running')", before.any);
  tx.run(
    "DELETE FROM slot WHERE state = 'skipped' AND ended_at < ? AND job IN (SELECT id FROM job WHERE kind = 'beat')",
    before.quietBeats,
  );
  // Without its slots a single run that is over is only a name.
  tx.run(
    `DELETE FROM job WHERE kind = 'work' AND declared = 0 AND enabled = 1 AND updated_at < ?
       AND json_extract(spec, '$.when.kind') = 'at' AND NOT EXISTS (SELECT 1 FROM slot WHERE slot.job = job.id)`,
    before.any,
  );
}

/** Slots whose time has come and that didn't begin. */
export function listPassed(db: Reads, now: number): Promise<{ job: ScheduleId; due: number }[]> {
  return db.all("SELECT job, due FROM slot WHERE state = 'pending' AND due <= ?", now);
}
