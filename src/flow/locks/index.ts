export { type LocksConfig, locksConfig } from "./config.ts";
export { type LockHold, Locks, type LocksParts, type LockView } from "./locks.ts";
export { findResources } from "./resource.ts";
export type { Holder } from "./store.ts";
