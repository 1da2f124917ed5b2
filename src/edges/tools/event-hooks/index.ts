export { eventHooksConfig } from "./config.ts";
export { type OpenedHooks, openEventHooks } from "./open.ts";
