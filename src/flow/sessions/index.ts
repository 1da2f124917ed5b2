export { type SessionParts, type SessionSummary, Sessions } from "./sessions.ts";
