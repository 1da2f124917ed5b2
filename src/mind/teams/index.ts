export { type ChildReport, Children, type ChildrenParts, type DeadlineBody, type Spawn } from "./children.ts";
export { type TeamsConfig, teamsConfig } from "./config.ts";
export type { ChildRow } from "./store.ts";
export { openChildren } from "./store.ts";
export { makeToolPort as makeSessionToolPort, type OtherSessions } from "./tool-port.ts";
