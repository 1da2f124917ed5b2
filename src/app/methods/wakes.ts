/** Handlers of `wakes.*`. */
import { runningProcesses } from "../../edges/tools/index.ts";
import { eventsWaiting, placeWake, wakeEvent } from "../../flow/events/index.ts";
import { listParked } from "../../flow/turns/index.ts";
import { nextSlots } from "../../mind/schedule/index.ts";
import { openChildren } from "../../mind/sub-agents/index.ts";
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
      const { session, agent } = await placeWake(
        { ...instance, defaultAgent: parts.config.routing.defaultAgent },
        { session: typed, agent: named },
      );
      // Without a key each call is a separate event, so that the same text can be sent twice on purpose.
      const event = wakeEvent(
        { session, agent, by: caller.principal, text, deliver },
        idempotencyKey ?? parts.ids.next("e"),
      );
      const { duplicate } = await instance.events.tell(event);
      return { session, event: event.key, duplicate };
    },
  };
}
