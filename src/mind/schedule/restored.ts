/**
 * A home came back from a backup. Slots that were due between the backup and now may have run in the life that is lost, so none of
 * them is caught up: each is recorded as missed with the reason, and the job goes on with its next time.
 */
import type { Reads, Tx } from "../../core/contracts/index.ts";
import { type Json, type ScheduleId, type SessionKey, sessionKeys } from "../../core/domain/index.ts";
import type { SlotBody } from "./runs.ts";
import { closeSlot, listJobs, listPassed, makeSlot, runningSlots } from "./store.ts";
import { nextDue } from "./when.ts";

export interface JobTimer {
  id: ScheduleId;
  due: number;
  session: SessionKey;
  body: Json;
}

/** What is to be written, and the timers of the jobs that come again. */
export async function skipPassed(
  db: Reads,
  now: number,
  reason: string,
): Promise<{ record: (tx: Tx) => void; timers: JobTimer[] }> {
  const jobs = new Map([...(await listJobs(db, "work")), ...(await listJobs(db, "beat"))].map((job) => [job.id, job]));
  const passed = await listPassed(db, now);
  const cutOff = await runningSlots(db);
  const timers = [...new Set(passed.map(({ job }) => job))].flatMap((id): JobTimer[] => {
    const job = jobs.get(id);
    const due = job?.enabled ? nextDue(job.when, now) : undefined;
    if (due === undefined) return [];
    const body: SlotBody = { kind: "slot", job: id, due };
    return [{ id, due, session: sessionKeys.job(id), body }];
  });
  return {
    timers,
    record(tx) {
      for (const slot of passed) closeSlot(tx, slot, { state: "missed", reason, at: now });
      for (const slot of cutOff) closeSlot(tx, slot, { state: "failed", reason, at: now });
      for (const { id, due } of timers) makeSlot(tx, id, due);
    },
  };
}
