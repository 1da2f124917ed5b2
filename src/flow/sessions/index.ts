export { type SessionParts, Sessions, type SessionSummary } from "./sessions.ts";
