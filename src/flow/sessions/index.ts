export { type SessionParts, type SessionSummary, Sessions } from "./sessions.ts";
export { useSession } from "./store.ts";
