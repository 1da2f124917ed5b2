export { COALESCE_MS, MOST_WAITING, type SystemEvent, SystemEvents } from "./events.ts";
export {
  childEvent,
  exitEvent,
  hookEvent,
  peerEvent,
  placeWake,
  spottedEvent,
  taskEvent,
  wakeEvent,
} from "./sources.ts";
export { eventsWaiting, silenceAll, silenceEvents, sourcesSince } from "./store.ts";
export { makeWaitPort } from "./wait-port.ts";
