export { EventHooks } from "./event-hooks.ts";
export { eraseHookEvents } from "./store.ts";
export { listHooks, tryHook } from "./view.ts";
