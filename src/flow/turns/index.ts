export { Changes } from "./changes.ts";
export { type LimitsConfig, limitsConfig } from "./config.ts";
export { spoken } from "./finish.ts";
export type { Intake, Judge, Questions, Toolbox, TurnParts } from "./ports.ts";
export { type BuiltRequest, buildRequest } from "./request.ts";
export {
  eraseTurns,
  forgetAdmitted,
  listTurns,
  queueTurn,
  readTurn,
  recordUsage,
  recordWoken,
  restartsOf,
  type TurnRow,
  wasAdmitted,
} from "./store.ts";
export { makeTurns } from "./turn.ts";
export { TurnWatch } from "./watch.ts";
