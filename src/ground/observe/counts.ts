/** What is open at this moment, for the status and the metrics. */
import type { SessionKey, TurnId } from "../../core/domain/index.ts";

/** Where the counted things are. Each is asked once per count. */
export interface OpenThings {
  turns(): Promise<{ open: readonly { id: TurnId; session: SessionKey }[]; parked: number }>;
  pendingApprovals(): Promise<number>;
  unsentDeliveries(): Promise<readonly { state: string; n: number }[]>;
  running(session: SessionKey): TurnId | undefined;
}

export async function countOpen(things: OpenThings) {
  const { open, parked } = await things.turns();
  const pending = await things.pendingApprovals();
  const unsent = await things.unsentDeliveries();
  const count = (...states: string[]) =>
    unsent.filter((d) => states.includes(d.state)).reduce((sum, d) => sum + d.n, 0);
  const active = open.filter((t) => things.running(t.session) === t.id).length;
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
