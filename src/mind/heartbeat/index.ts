export { beatViews, declareBeats, findBeat } from "./agents.ts";
export { readChecklist } from "./checklist.ts";
export { heartbeatConfig } from "./config.ts";
export { Heartbeat } from "./heartbeat.ts";
export { isActive } from "./hours.ts";
export { describeRecent, PAUSED_BY_PERSON } from "./words.ts";
