export { deliverConfig, type HooksConfig, hooksConfig } from "./config.ts";
export { type HookAnswer, Hooks, type Rung } from "./hooks.ts";
