/** What a turn asks of the inbox: the messages for its next model call, and where its own message went. */
import type { Reads } from "../../../core/contracts/index.ts";
import type { SessionKey, TurnId } from "../../../core/domain/index.ts";
import { type InboxRow, take, takenBy, waitingIn } from "./store.ts";
import { isInterrupted, taken } from "./take.ts";

/** Reads the texts of attached files that the model is to see. */
export interface AttachedTexts {
  withTexts(messages: InboxRow[], signal?: AbortSignal): Promise<InboxRow[]>;
}

export function makeTurnIntake(records: Reads, attachments: AttachedTexts) {
  return {
    async next(session: SessionKey, by: { turn: TurnId; call: number; route: string }, signal?: AbortSignal) {
      const waiting = await waitingIn(records, session);
      const interrupted = isInterrupted(waiting, by.turn);
      const messages = interrupted ? [] : await attachments.withTexts(taken(waiting, by), signal);
      return { messages, interrupted };
    },
    async own(turn: TurnId) {
      const row = await takenBy(records, turn);
      return row && { takenBy: row.taken_by, withdrawn: row.withdrawn, mode: row.mode, message: row };
    },
    take,
  };
}

/** What the next turn of the session would take, without taking it. */
export async function previewWaiting(
  records: Reads,
  attachments: AttachedTexts,
  session: SessionKey,
): Promise<InboxRow[]> {
  const rows = await waitingIn(records, session);
  const [first] = rows;
  return first ? attachments.withTexts(taken(rows, { turn: first.turn, call: 0, route: first.route })) : [];
}
