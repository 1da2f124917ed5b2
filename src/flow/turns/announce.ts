/** What the bus says when a turn ended or parked, after that is durable. */
import { type ApprovalView, type SessionKey, type TurnId, withoutCommandLane } from "../../core/domain/index.ts";
import { type Bus, type Log, truthy } from "../../core/kit/index.ts";
import type { TurnEnds } from "./turn-ends.ts";

interface Asked {
  list(q: { pendingOnly: true; turn: TurnId; limit: number }): Promise<readonly ApprovalView[]>;
}

/** After a turn ended or parked: the events that say so. */
export async function announce(
  parts: { bus: Bus; approvals: Asked; turnEnds: TurnEnds; log: Log },
  turn: TurnId,
  lane: SessionKey,
  how: "ended" | "parked",
): Promise<void> {
  const { bus, approvals } = parts;
  const session = withoutCommandLane(lane);
  if (how === "parked") {
    const asked = await approvals.list({ pendingOnly: true, turn, limit: 50 });
    for (const a of asked) {
      bus.emit({ event: "approval.asked", session, turn, approval: a.id, shown: a.shown, because: a.because });
    }
    bus.emit({ event: "turn.parked", session, turn, approvals: asked.map((a) => a.id) });
    return;
  }
  const row = await parts.turnEnds.read(turn);
  const result = row?.result;
  if (!row || !result) return;
  const { state, text, reason, joined, model } = result;
  parts.log.info(`turn ${state}`, {
    turn,
    agent: row.agent,
    ms: (row.endedAt ?? row.acceptedAt) - row.acceptedAt,
    ...truthy({ model }),
  });
  bus.emit({ event: "turn.ended", session, turn, state, text: text || reason || "", ...truthy({ joined }) });
}
