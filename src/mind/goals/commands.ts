import { type InboundMessage, idempotencyKeys, type SessionKey } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import type { Goals } from "./goals.ts";
import { goalLine, goalSet, NO_GOAL, NO_GOAL_YET, ONLY_OWNER_SETS } from "./words.ts";

/** Runs `/goal` and returns the reply. */
export async function goalWords(
  goals: Goals,
  session: SessionKey,
  args: string,
  message: InboundMessage,
): Promise<string> {
  const goal = await goals.of(session);
  if (!args) return goal ? goalLine(goal) : NO_GOAL_YET;
  if (message.authority !== "owner") return ONLY_OWNER_SETS;
  const by = message.sender.id;
  if (["pause", "resume", "cancel"].includes(args)) {
    if (!goal) return NO_GOAL;
    if (args === "pause") return goalLine(await goals.pause(goal.id, by));
    return goalLine(args === "resume" ? await goals.resume(goal.id) : await goals.cancel(goal.id, by));
  }
  // A platform may repeat the message: the same message is the same goal.
  const said = message.idempotencyKey ?? message.platformId;
  const made = await goals.add({
    outcome: args,
    session,
    ...truthy({ agent: message.agent }),
    route: message.route,
    madeBy: by,
    ...(said ? { key: idempotencyKeys.command(session, said) } : {}),
  });
  return goalSet(made);
}
