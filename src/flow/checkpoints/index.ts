export { Checkpoints } from "./checkpoints.ts";
export { checkpointsConfig } from "./config.ts";
export type { CheckpointParts } from "./ports.ts";
