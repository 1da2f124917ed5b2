export * from "./channel.ts";
export * from "./embedder.ts";
export * from "./engine.ts";
export * from "./model.ts";
export * from "./records.ts";
export * from "./tool.ts";
