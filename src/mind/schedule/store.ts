import type { Reads, Tx } from "../../core/contracts/index.ts";
import type { ScheduleId, TurnId } from "../../core/domain/index.ts";
import type { Job, SlotState } from "./job.ts";

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
}

const SLOT = "job, due, state, reason, turn, started_at, ended_at";

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

export async function listJobs(db: Reads): Promise<Job[]> {
  return (await db.all<JobRow>("SELECT spec, enabled, failures, signature FROM job ORDER BY name")).map(job);
}

function job(row: JobRow): Job {
  return {
    ...(JSON.parse(row.spec) as Omit<Job, "enabled" | "failures">),
    enabled: row.enabled === 1,
    failures: row.failures,
  };
}

export function deleteJob(tx: Tx, id: ScheduleId): void {
  tx.run("DELETE FROM slot WHERE job = ?", id);
  tx.run("DELETE FROM job WHERE id = ?", id);
}

/** A slot is made once; making it again changes nothing. */
export function makeSlot(tx: Tx, id: ScheduleId, due: number): void {
  tx.run("INSERT INTO slot (job, due, state) VALUES (?, ?, 'pending') ON CONFLICT (job, due) DO NOTHING", id, due);
}

/** Pending slots of a job that will not come: its schedule changed or it was paused. */
export function dropPending(tx: Tx, id: ScheduleId): void {
  tx.run("DELETE FROM slot WHERE job = ? AND state = 'pending'", id);
}

export function closeSlot(
  tx: Tx,
  id: ScheduleId,
  due: number,
  state: SlotState,
  reason: string | null,
  at: number,
): void {
  tx.run(
    `INSERT INTO slot (job, due, state, reason, ended_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (job, due) DO UPDATE SET state = excluded.state, reason = excluded.reason, ended_at = excluded.ended_at
     WHERE slot.state IN ('pending', 'running')`,
    id,
    due,
    state,
    reason,
    at,
  );
}

export function startSlot(tx: Tx, id: ScheduleId, due: number, turn: TurnId, at: number): void {
  tx.run(
    `INSERT INTO slot (job, due, state, turn, started_at) VALUES (?, ?, 'running', ?, ?)
     ON CONFLICT (job, due) DO UPDATE SET state = 'running', turn = excluded.turn, started_at = excluded.started_at
     WHERE slot.state = 'pending'`,
    id,
    due,
    turn,
    at,
  );
}

export function setFailures(
  tx: Tx,
  id: ScheduleId,
  failures: number,
  signature: string | null,
  enabled: boolean,
): void {
  tx.run(
    "UPDATE job SET failures = ?, signature = ?, enabled = ? WHERE id = ?",
    failures,
    signature,
    enabled ? 1 : 0,
    id,
  );
}

export async function signatureOf(db: Reads, id: ScheduleId): Promise<string | null> {
  return (await db.get<{ signature: string | null }>("SELECT signature FROM job WHERE id = ?", id))?.signature ?? null;
}

export function slotOf(db: Reads, turn: TurnId): Promise<Slot | undefined> {
  return db.get(`SELECT ${SLOT} FROM slot WHERE turn = ?`, turn);
}

/** Slots whose turn may have ended while nobody looked. */
export function runningSlots(db: Reads): Promise<Slot[]> {
  return db.all(`SELECT ${SLOT} FROM slot WHERE state = 'running'`);
}

export function slotsOf(db: Reads, id: string, limit: number): Promise<Slot[]> {
  return db.all(`SELECT ${SLOT} FROM slot WHERE job = ? ORDER BY due DESC LIMIT ?`, id, limit);
}

export async function pendingDue(db: Reads, id: ScheduleId): Promise<number | undefined> {
  return (
    (await db.get<{ due: number }>("SELECT MIN(due) AS due FROM slot WHERE job = ? AND state = 'pending'", id))?.due ??
    undefined
  );
}
