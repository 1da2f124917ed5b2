/** What the house tells whoever watches: live events after something is durable, and a session's state in words. */
import type { Models, Records } from "../core/contracts/index.ts";
import { type SessionKey, type TurnId, withoutCommandLane } from "../core/domain/index.ts";
import type { Bus, Log } from "../core/kit/index.ts";
import { type Approvals, shortCode } from "../flow/approvals/index.ts";
import { listTurns, type TurnEnds } from "../flow/turns/index.ts";

/** After a turn ended or parked: the events that say so. */
export async function announce(
  parts: { bus: Bus; approvals: Approvals; watch: TurnEnds; log: Log },
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
  const row = await parts.watch.read(turn);
  const result = row?.result;
  if (!row || !result) return;
  const { state, text, reason, joined, model } = result;
  parts.log.info(`turn ${state}`, {
    turn,
    agent: row.agent,
    ms: (row.endedAt ?? row.acceptedAt) - row.acceptedAt,
    ...(model ? { model } : {}),
  });
  bus.emit({ event: "turn.ended", session, turn, state, text: text || reason || "", ...(joined ? { joined } : {}) });
}

/** What `/status` says. */
export async function describeSession(
  parts: { records: Records; approvals: Approvals; running: (s: SessionKey) => TurnId | undefined; models: Models },
  session: SessionKey,
): Promise<string> {
  const open = await listTurns(parts.records, { session, open: true, limit: 10 });
  const waiting = await parts.approvals.list({ pendingOnly: true, session, limit: 10 });
  const model = parts.models.primary();
  return [
    parts.running(session) ? "Working on your message." : "Idle.",
    open.length > 1 ? `${open.length} messages are open.` : "",
    ...waiting.map((a) => `Waiting for you: ${a.tool} (${shortCode(a.id)}).`),
    `Model: ${model.id}${model.practice ? " (practice, not a language model)" : ""}.`,
  ]
    .filter(Boolean)
    .join("\n");
}
