export { type SessionParts, type SessionSummary, Sessions } from "./sessions.ts";
export { agentOf, hasSession, sessionsPerAgent, useSession } from "./store.ts";
export * as sessionViews from "./view/store.ts";
