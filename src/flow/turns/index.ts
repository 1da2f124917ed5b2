export { announce } from "./announce.ts";
export { FileChanges } from "./changes.ts";
export { type LimitsConfig, limitsConfig } from "./config.ts";
export {
  type ChatDoor,
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
export { type NextRequest, nextRequest } from "./next-request.ts";
export type { ApprovalQuestions, Judge, Toolbox, TurnIntake, TurnParts } from "./ports.ts";
export { type BuiltRequest, buildRequest } from "./request.ts";
export { callFacts, describeStep } from "./step-outcome.ts";
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
export { TurnEnds } from "./turn-ends.ts";
export {
  NO_MODEL,
  tokensSince,
  type UsageBy,
  type UsageSum,
  usageByModel,
  usageOfRuns,
  usageOfSession,
  usageToday,
} from "./usage/store.ts";
export { summariseUsage } from "./usage/summary.ts";
export { whyNotAgain } from "./wake.ts";
export { withoutPaths } from "./without-paths.ts";
export { textSoFar } from "./words.ts";
