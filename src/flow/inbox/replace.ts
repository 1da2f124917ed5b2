/**
 * An edited message takes the place of an earlier one. Who may, and which turns must make way: those that answer the old
 * message or one after it. Turns of messages before it go on. The model's view changes when the new turn begins, as a step of
 * its journal; here nothing is changed.
 */
import { CANCEL, type Engine, type Reads } from "../../core/contracts/index.ts";
import { AppError, type Authority, resumeIds, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import type { Placement } from "./routing.ts";
import { openFrom, readAdmitted } from "./store.ts";

export async function whatItReplaces(
  messages: Reads,
  { session, person }: Placement,
  target: TurnId,
  authority: Authority,
): Promise<{ stop: TurnId[] }> {
  const old = await readAdmitted(messages, session, target);
  if (!old || (old.person !== person && authority !== "owner")) {
    throw new AppError("NOT_FOUND", {
      message: `There is no message of turn "${target}" in this conversation that you could replace.`,
      hint: "Name the turn of one of your own messages: chat.history has them.",
      details: { field: "replaces" },
    });
  }
  if (old.replaced) {
    throw new AppError("CONFLICT", {
      message: "This message was already replaced by a later edit.",
      hint: "Edit the newer one.",
      details: { field: "replaces" },
    });
  }
  return { stop: await openFrom(messages, session, target) };
}

/** Asks the open turns to stop whose messages come at or after that of `target`, except `by`. Again is harmless. */
export async function stopReplaced(
  { messages, engine }: { messages: Reads; engine: Pick<Engine, "resume"> },
  session: SessionKey,
  target: TurnId,
  by: TurnId,
): Promise<void> {
  for (const turn of await openFrom(messages, session, target)) {
    if (turn === by) continue;
    await engine.resume(turn, { id: resumeIds.replaced(by), name: CANCEL, value: { why: "its message was replaced" } });
  }
}
