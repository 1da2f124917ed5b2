export {
  COALESCE_MS,
  type CollectedEvents,
  MOST_WAITING,
  type SystemEvent,
  type SystemEventParts,
  SystemEvents,
} from "./events.ts";
export { childEvent, exitEvent, hookEvent, spottedEvent, wakeEvent } from "./sources.ts";
export { eventsWaiting, silenceEvents, sourcesSince } from "./store.ts";
export { makeWaitPort } from "./wait-port.ts";
