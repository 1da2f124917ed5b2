/** Calls whose outcome is waited for without a person: sub-agents, a process, a time. The turn is parked meanwhile (I8). */

import type { AfterWait } from "../../core/contracts/index.ts";
import { messageIds, stepNames } from "../../core/domain/index.ts";
import { type At, makePlace } from "./place.ts";
import type { TurnParts } from "./ports.ts";
import type { Pause, Progress } from "./progress.ts";
import { WAIT_OVER, WAIT_RESULT } from "./words.ts";

/** What these calls waited for is there, or their time is over: it takes the interim result's place, or is said in a later message. */
export async function endPauses(
  parts: TurnParts,
  at: At,
  p: Progress,
  isOver: (pause: Pause) => boolean,
): Promise<void> {
  const { turn, session, segment } = at;
  const over = (p.pauses ?? []).filter(isOver);
  p.pauses = (p.pauses ?? []).filter((pause) => !over.includes(pause));
  for (const { callId, tool, input, on, deadline, results } of over) {
    let came: AfterWait = { text: WAIT_OVER, origin: "own" };
    const now = parts.clock.now();
    const label = { kind: "wait" as const, text: WAIT_RESULT, of: tool };
    const line = await parts.ownLine({ session, at: now, label });
    const settling =
      results === undefined ? undefined : await parts.interims.settling({ session, message: results, call: callId });
    await at.ctx.step(
      stepNames.after(callId),
      async () => {
        came = (await parts.tools.get(tool)?.after?.(input, makePlace(parts, at), { on, deadline })) ?? came;
        return null;
      },
      (tx) => {
        came.record?.(tx);
        const outside = came.origin !== "own";
        if (settling?.place(tx, { text: came.text }, outside)) return;
        parts.history.append(tx, {
          session,
          turn,
          id: messageIds.after(turn, segment, callId),
          message: { role: "user", content: [line, { type: "text", text: came.text }] },
          at: now,
          outside,
          meta: { kind: "outcome" },
        });
      },
    );
  }
}
