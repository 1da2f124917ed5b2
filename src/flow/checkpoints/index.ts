export { type Changed, Checkpoints } from "./checkpoints.ts";
export { type CheckpointsConfig, checkpointsConfig } from "./config.ts";
export type { AgentFiles, Call, CheckpointParts } from "./ports.ts";
export type { Undone, UndoneFile } from "./undo.ts";
