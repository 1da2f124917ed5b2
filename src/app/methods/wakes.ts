/** Handlers of `wakes.*`. */
import { type AgentId, asId, type SessionKey, sessionKeys, unknownAgent } from "../../core/domain/index.ts";
import { runningProcesses } from "../../edges/tools/index.ts";
import { eventsWaiting, wakeEvent } from "../../flow/events/index.ts";
import { listParked } from "../../flow/turns/index.ts";
import { nextSlots } from "../../mind/schedule/index.ts";
import { openChildren } from "../../mind/teams/index.ts";
import { listWakes, type Waiting } from "../../mind/wakes/index.ts";
import type { Instance } from "../instance.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

type WakeRooms = "records" | "watchers" | "goals" | "hooks";

/** Everything that waits for something. */
function waitingIn({ records, watchers, goals, hooks }: Pick<Instance, WakeRooms>): Waiting {
  const db = records.committed;
  return {
    parked: (most) => listParked(db, most),
    slots: (most) => nextSlots(db, most),
    hooks: () => hooks.list(),
    watches: () => watchers.list(),
    goals: (most) => goals.list(most),
    children: (most) => openChildren(db, most),
    processes: (most) => runningProcesses(db, most),
    events: (most) => eventsWaiting(db, most),
  };
}

export function makeWakeMethods(
  parts: Asks<WakeRooms | "sessions" | "agents" | "events"> & Pick<MethodParts, "config" | "ids" | "clock">,
): Methods<"wakes"> {
  return {
    "wakes.list": async () => ({ wakes: await listWakes(waitingIn(parts.instance()), parts.clock.now()) }),
    async "wakes.send"({ session: typed, agent: named, text, deliver, idempotencyKey }, caller) {
      const instance = parts.instance();
      const agent = asId<AgentId>(named ?? parts.config.routing.defaultAgent);
      const session = typed === "main" ? sessionKeys.main(agent) : asId<SessionKey>(typed);
      // The main session needs no row yet: the event itself will create it. Any other key must exist, or a typo would start a
      // session.
      const known = typed === "main" ? undefined : await instance.sessions.get(session);
      // A session belongs to one agent. A named agent doesn't change that.
      const owner = asId<AgentId>(known?.agent ?? agent);
      if (!instance.agents.exists(owner)) throw unknownAgent(owner);
      // Without a key each call is a separate event, so that the same text can be sent twice on purpose.
      const event = wakeEvent(
        { session, agent: owner, by: caller.principal, text, deliver },
        idempotencyKey ?? parts.ids.next("e"),
      );
      const { duplicate } = await instance.events.tell(event);
      return { session, event: event.key, duplicate };
    },
  };
}
