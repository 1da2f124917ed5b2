export { EVERY_WAY } from "./every-way.ts";
export { callExec, type HeldCommand, heldCommand } from "./gate.ts";
export { residentMb, weighable } from "./heap.ts";
export { textsOf, unknownIn } from "./history.ts";
export { type HookReceiver, type ReceivedEvent, startHookReceiver } from "./hook-receiver.ts";
export {
  type Answered,
  allJobs,
  type Chatted,
  Lares,
  type LaresOptions,
  PROGRAM,
  RpcFailed,
  startLares,
  TOKEN,
} from "./lares.ts";
export { envelopes, modelEnv, requestsWith, spawnModel, startModel, toolResults, userTexts } from "./model.ts";
export { COMPACTED_SAYS, type Narrow, narrowConfig, narrowScript } from "./narrow.ts";
export { needs, notRun, programAt } from "./not-run.ts";
export { scratch } from "./scratch.ts";
export { until } from "./until.ts";
export { type FarSide, type HookMessage, sendHook, startFarSide } from "./webhook.ts";
