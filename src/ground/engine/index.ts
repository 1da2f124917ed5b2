export { lanesConfig } from "./config.ts";
export { EmbeddedEngine } from "./embedded/engine.ts";
export { readTurnState, slotDue } from "./embedded/look.ts";
