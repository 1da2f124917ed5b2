export {
  COALESCE_MS,
  type Collected,
  type EventParts,
  MOST_WAITING,
  type SystemEvent,
  SystemEvents,
} from "./events.ts";
export { silenceEvents } from "./store.ts";
