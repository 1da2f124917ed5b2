export { Access } from "./access.ts";
export { mustReach } from "./act.ts";
export { deleteLogins } from "./store.ts";
