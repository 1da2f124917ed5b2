export { retentionConfig } from "./config.ts";
export { importLines } from "./import.ts";
export { Sessions } from "./sessions.ts";
export { findAgent, findMode, hasSession, sessionsPerAgent, sessionsSince, useSession } from "./store.ts";
export { sessionViews } from "./view/store.ts";
