export { EventHooks } from "./event-hooks.ts";
export { dropHookEvents, eraseHookEvents } from "./store.ts";
export { listHooks, tryHook } from "./view.ts";
