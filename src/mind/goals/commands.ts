import type { InboundMessage, SessionKey } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import type { Goals } from "./goals.ts";
import type { Goal } from "./store.ts";

/** Runs `/goal` and returns the reply. */
export async function goalWords(
  goals: Goals,
  session: SessionKey,
  args: string,
  message: InboundMessage,
): Promise<string> {
  const goal = await goals.of(session);
  if (!args) return goal ? goalLine(goal) : "There is no goal here. Set one: /goal the build is green";
  if (message.authority !== "owner") return "Only the owner can set or change goals.";
  const by = message.sender.id;
  if (["pause", "resume", "cancel"].includes(args)) {
    if (!goal) return "There is no goal here.";
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
    ...(said ? { key: `${session}:${said}` } : {}),
  });
  return `${goalLine(made)} /goal pause and /goal cancel end it.`;
}

function goalLine(goal: Goal): string {
  const { outcome, state, round, most_turns, why } = goal;
  return `${outcome}: ${state}, turn ${round} of ${most_turns}.${why ? ` ${why}` : ""}`;
}
