export { Changes } from "./changes.ts";
export { type LimitsConfig, limitsConfig } from "./config.ts";
export {
  askersOf,
  type Door,
  doorsOf,
  hasOtherSpeakers,
  hasSpokenIn,
  livePlaceOf,
  placeOfQuestion,
  recentChats,
  routeOfTurn,
  sessionOfTurn,
} from "./doors/store.ts";
export { spoken } from "./finish.ts";
export type { Intake, Judge, Questions, Toolbox, TurnParts } from "./ports.ts";
export { type BuiltRequest, buildRequest } from "./request.ts";
export {
  eraseTurns,
  forgetAdmitted,
  listTurns,
  openNow,
  queueTurn,
  readTurn,
  recordUsage,
  recordWoken,
  restartsOf,
  type TurnRow,
  turnsByState,
  wasAdmitted,
} from "./store.ts";
export { makeTurns } from "./turn.ts";
export {
  tokensSince,
  type UsageBy,
  type UsageSum,
  usageBy,
  usageByModel,
  usageOfRuns,
  usageOfSession,
  usageSince,
} from "./usage/store.ts";
export { TurnWatch } from "./watch.ts";
