export { keepLimits } from "./kept.ts";
export { createProcess } from "./process.ts";
export { type ProcessExit, Processes, type ProcessesParts, type SeenProcess, type Start } from "./processes.ts";
