export { Changes } from "./changes.ts";
export { type LimitsConfig, limitsConfig } from "./config.ts";
export {
  type Door,
  findAskers,
  findLivePlace,
  hasOtherSpeakers,
  hasSpokenIn,
  listDoors,
  placeOfQuestion,
  recentChats,
  routeOfTurn,
  sessionOfTurn,
} from "./doors/store.ts";
export { spoken } from "./finish.ts";
export type { Intake, Judge, Questions, Toolbox, TurnParts } from "./ports.ts";
export { type BuiltRequest, buildRequest } from "./request.ts";
export { stepOutcome } from "./step-outcome.ts";
export {
  eraseTurns,
  forgetAdmitted,
  listRestarts,
  listTurns,
  openNow,
  queueTurn,
  readTurn,
  recordUsage,
  recordWoken,
  type TurnRow,
  turnsByState,
  wasAdmitted,
} from "./store.ts";
export { makeTurns } from "./turn.ts";
export { TurnWatch } from "./turn-ends.ts";
export {
  NO_MODEL,
  tokensSince,
  type UsageBy,
  type UsageSum,
  usageBy,
  usageByModel,
  usageOfRuns,
  usageOfSession,
  usageSince,
} from "./usage/store.ts";
