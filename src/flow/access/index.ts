export { Access } from "./access.ts";
export { mustReach } from "./act.ts";
