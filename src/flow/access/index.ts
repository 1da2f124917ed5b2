export { Access, type AccessParts } from "./access.ts";
export { mustReach } from "./act.ts";
export { CODE_MS } from "./codes.ts";
