export { lanesConfig } from "./config.ts";
export { EmbeddedEngine } from "./embedded/engine.ts";
export type { LanePlaces } from "./embedded/lanes.ts";
export { readTurnState, slotDue } from "./embedded/look.ts";
