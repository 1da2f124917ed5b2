export { type SessionParts, type SessionSummary, Sessions } from "./sessions.ts";
export { agentOf, hasSession, sessionsPerAgent, useSession } from "./store.ts";
export { sessionViews } from "./view/store.ts";
