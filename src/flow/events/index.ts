export { COALESCE_MS, type EventParts, MOST_WAITING, type SystemEvent, SystemEvents } from "./events.ts";
