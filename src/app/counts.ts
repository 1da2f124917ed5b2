/** What is open at this moment, for the status and the metrics. */
import type { Reads } from "../core/contracts/index.ts";
import type { SessionKey, TurnId } from "../core/domain/index.ts";
import { countPending } from "../flow/approvals/index.ts";
import { unsentByState } from "../flow/outbox/index.ts";
import { openNow } from "../flow/turns/index.ts";

export async function countOpen(db: Reads, running: (session: SessionKey) => TurnId | undefined) {
  const { open, parked } = await openNow(db);
  const pending = await countPending(db);
  const unsent = await unsentByState(db);
  const count = (...states: string[]) =>
    unsent.filter((d) => states.includes(d.state)).reduce((sum, d) => sum + d.n, 0);
  const active = open.filter((t) => running(t.session) === t.id).length;
  return {
    turns: { queued: Math.max(open.length - active, 0), running: active, parked },
    approvals: { pending },
    deliveries: {
      waiting: count("intended", "sending"),
      uncertain: count("uncertain"),
      failed: count("failed", "expired"),
    },
  };
}
