export {
  COALESCE_MS,
  type Collected,
  type EventParts,
  MOST_WAITING,
  type SystemEvent,
  SystemEvents,
} from "./events.ts";
export { eventsWaiting, silenceEvents, sourcesSince } from "./store.ts";
