export { Children, type DeadlineBody } from "./children.ts";
export { teamsConfig } from "./config.ts";
export { markAllTold, openChildren, spawnedRepository, spawnedRuntime } from "./store.ts";
export { makeToolPort as makeSessionToolPort } from "./tool-port.ts";
