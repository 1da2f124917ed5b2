export { lanesConfig } from "./config.ts";
export { EmbeddedEngine } from "./embedded/engine.ts";
export { readTurnState, slotDue } from "./embedded/look.ts";
export { endRestored } from "./embedded/store.ts";
