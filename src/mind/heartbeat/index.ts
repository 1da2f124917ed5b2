export { beatViews, declareBeats, findBeat } from "./agents.ts";
export { readChecklist } from "./checklist.ts";
export { type HeartbeatConfig, heartbeatConfig } from "./config.ts";
export { type BeatState, Heartbeat, type HeartbeatParts } from "./heartbeat.ts";
export { isActive } from "./hours.ts";
export { describeRecent, PAUSED_BY_PERSON } from "./words.ts";
