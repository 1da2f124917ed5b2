export { type Client, FACE_HEADER, type Face } from "./client.ts";
export * from "./diff.ts";
export { EVENTS } from "./events.ts";
export * from "./frames.ts";
export { agentFile } from "./house-methods.ts";
export * from "./method.ts";
export * from "./methods.ts";
export * from "./principal.ts";
export * from "./shapes.ts";
