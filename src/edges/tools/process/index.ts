export { keepLimits } from "./kept.ts";
export { createProcess } from "./process.ts";
export { type Exit, Processes, type ProcessesParts, type Seen, type Start } from "./processes.ts";
