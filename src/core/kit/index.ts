export * from "./address.ts";
export * from "./bus.ts";
export * from "./clock.ts";
export * from "./crash.ts";
export * from "./ids.ts";
export * from "./log.ts";
export * from "./nearest.ts";
export * from "./retry.ts";
