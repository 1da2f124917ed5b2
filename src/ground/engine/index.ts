export { EmbeddedEngine } from "./embedded/engine.ts";
export type { Places } from "./embedded/lanes.ts";
export { slotDue, standingOf } from "./embedded/look.ts";
