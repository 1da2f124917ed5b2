export { keepLimits } from "./kept.ts";
export { createProcess } from "./process.ts";
export { type ProcessExit, Processes, type SeenProcess } from "./processes.ts";
