export * from "./client.ts";
export * from "./frames.ts";
export * from "./methods.ts";
export * from "./principal.ts";
export * from "./shapes.ts";
