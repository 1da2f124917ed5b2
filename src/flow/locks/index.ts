export { locksConfig } from "./config.ts";
export { type LockHold, Locks } from "./locks.ts";
export { findResources } from "./resource.ts";
export { deleteAllLocks } from "./store.ts";
