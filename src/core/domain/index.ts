export * from "./answer-words.ts";
export * from "./ending-tools.ts";
export * from "./errors.ts";
export * from "./events.ts";
export * from "./ids.ts";
export * from "./json.ts";
export * from "./message.ts";
export * from "./turn.ts";
