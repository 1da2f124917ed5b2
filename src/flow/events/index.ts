export {
  COALESCE_MS,
  type CollectedEvents,
  MOST_WAITING,
  type SystemEvent,
  type SystemEventParts,
  SystemEvents,
} from "./events.ts";
export { eventsWaiting, silenceEvents, sourcesSince } from "./store.ts";
