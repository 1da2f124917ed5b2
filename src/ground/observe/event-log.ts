/** One line of the log for whatever a person may ask about later. Never what was said. */
import type { Bus, Log } from "../../core/kit/index.ts";
import { truthy } from "../../core/kit/index.ts";
import type { Logbook } from "./log.ts";

/** Every line of the log as a live event, for those who follow it. */
export function emitLog(log: Pick<Logbook, "follow">, bus: Bus): () => void {
  return log.follow((line) => bus.emit({ event: "log", ...line }));
}

export function keepEventLog(bus: Bus, log: Log): () => void {
  const approvals = log.child("approvals");
  const outbox = log.child("outbox");
  const schedule = log.child("schedule");
  return bus.on((event) => {
    switch (event.event) {
      case "approval.asked":
        return approvals.info("asked", { approval: event.approval, turn: event.turn });
      case "approval.answered":
        return approvals.info(event.state, { approval: event.approval, turn: event.turn, by: event.by });
      case "delivery":
        if (event.state !== "failed" && event.state !== "uncertain" && event.state !== "expired") return;
        return outbox.warn(`delivery ${event.state}`, {
          delivery: event.delivery,
          turn: event.turn,
          ...truthy({ error: event.error }),
        });
      case "schedule.fired":
        return schedule.info("fired", { schedule: event.schedule, turn: event.turn });
      default:
        return;
    }
  });
}
