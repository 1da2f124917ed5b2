export { hooksConfig } from "./config.ts";
export { Hooks } from "./hooks.ts";
