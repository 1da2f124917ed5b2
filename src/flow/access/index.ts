export { Access, type AccessParts } from "./access.ts";
export { CODE_MS } from "./codes.ts";
export { isOwnKey, mayBegin } from "./reach.ts";
