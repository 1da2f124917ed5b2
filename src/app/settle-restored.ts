/** Each room's word on a home that came back from a backup: what was open in it is over, and nothing of it is done or sent again. */
import { type Json, toJson } from "../core/domain/index.ts";
import { loseFarWork } from "../edges/tools/index.ts";
import { deleteLogins } from "../flow/access/index.ts";
import { withdrawPending } from "../flow/approvals/index.ts";
import { forgetPositions } from "../flow/channels/index.ts";
import { dropHookEvents } from "../flow/event-hooks/index.ts";
import { silenceAll } from "../flow/events/index.ts";
import { withdrawAll } from "../flow/inbox/index.ts";
import { deleteAllLocks } from "../flow/locks/index.ts";
import { doubtOutstanding } from "../flow/outbox/index.ts";
import { endOpenRuns } from "../flow/runs/index.ts";
import { failOpenTurns } from "../flow/turns/index.ts";
import { RESTORED, RESTORED_SLOT } from "../ground/backup/index.ts";
import { endRestored } from "../ground/engine/index.ts";
import { openRecords } from "../ground/records/index.ts";
import { pauseActive } from "../mind/goals/index.ts";
import { skipPassed } from "../mind/schedule/index.ts";
import { markAllTold } from "../mind/sub-agents/index.ts";
import { forgetLooks } from "../mind/watch/index.ts";

/** In one transaction, before the home is put in its place. `isQuiet`: no timer is left either. */
export async function settleRestored(database: string, at: number, isQuiet: boolean): Promise<void> {
  let failed: unknown;
  const records = await openRecords(database, (error) => {
    failed = error;
  });
  try {
    const slots = await skipPassed(records, at, RESTORED_SLOT);
    await records.write((tx) => {
      const result: Json = toJson(failOpenTurns(tx, RESTORED, at));
      endRestored(tx, { result, at, isQuiet, timers: slots.timers });
      slots.record(tx);
      withdrawAll(tx);
      withdrawPending(tx, RESTORED, at);
      doubtOutstanding(tx, RESTORED, at);
      silenceAll(tx);
      dropHookEvents(tx);
      forgetPositions(tx);
      endOpenRuns(tx, at);
      deleteAllLocks(tx);
      deleteLogins(tx);
      pauseActive(tx, RESTORED, at);
      forgetLooks(tx);
      markAllTold(tx);
      loseFarWork(tx, at);
    });
  } finally {
    records.close();
  }
  if (failed) throw failed;
}
