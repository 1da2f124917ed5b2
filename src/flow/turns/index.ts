export { announce } from "./announce.ts";
export { FileChanges } from "./changes.ts";
export { limitsConfig } from "./config.ts";
export {
  findAskers,
  findLivePlace,
  findQuestionPlace,
  findTurnRoute,
  findTurnSession,
  hasOtherSpeakers,
  hasSpokenIn,
  listDoors,
  recentChats,
} from "./doors/store.ts";
export { spokenToGuest } from "./finish.ts";
export { type NextRequest, nextRequest } from "./next-request.ts";
export type { TurnParts } from "./ports.ts";
export { toListed, toLive } from "./shown.ts";
export { findSpeakers } from "./speakers.ts";
export { callFacts, describeStep } from "./step-outcome.ts";
export {
  countTurns,
  eraseTurns,
  failOpenTurns,
  findAcceptId,
  forgetAdmitted,
  lastRecordedCall,
  listCalls,
  listRestarts,
  listRestartsIn,
  listTurns,
  openAcceptedAs,
  openAmong,
  openNow,
  queueTurn,
  readUsage,
  recordUsage,
  recordWoken,
  type TurnRow,
  turnsAcceptedAs,
  turnsByState,
  wasAdmitted,
} from "./store.ts";
export { FAILED_TURNS, hasUnknownEffect, listParked, UNKNOWN_EFFECTS, withUnknownEffect } from "./trouble/store.ts";
export { makeTurns } from "./turn.ts";
export { TurnEnds } from "./turn-ends.ts";
export { sumRunUsage, sumSessionUsage, tokensSince, usageByModel, usageToday } from "./usage/store.ts";
export { summariseUsage } from "./usage/summary.ts";
export { whyNotAgain } from "./wake.ts";
export { withoutPaths } from "./without-paths.ts";
export { textSoFar } from "./words.ts";
