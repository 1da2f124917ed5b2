export { type Client, FACE_HEADER, type Face } from "./client.ts";
export { type DiffLine, diff } from "./diff.ts";
export { EVENTS } from "./events.ts";
export type { EventFrame, Frame, RequestFrame, ResponseFrame } from "./frames.ts";
export { agentFile } from "./instance-methods.ts";
export { type Method, method, nothing, withIdempotencyKey } from "./method.ts";
export { isMethod, METHODS, type MethodName, type Params, type Parsed, type Result } from "./methods.ts";
export { COMPLETION_FIELDS, type FieldVerdicts, RESPONSE_FIELDS, refusedField } from "./openai-fields.ts";
export { type Principal, SCOPES, type Scope } from "./principal.ts";
export {
  type Approval,
  agentId,
  answerSettings,
  approval,
  attachedFile,
  attachmentIds,
  type ChatAnswer,
  chatAnswer,
  chatMessage,
  deliverTo,
  eventLabel,
  given,
  type HistoryMessage,
  historyMessage,
  idempotencyKey,
  json,
  jsonObject,
  messageText,
  modelInfo,
  part,
  type SessionSummary,
  sessionKey,
  sessionSummary,
  type TurnDetail,
  type TurnDoubt,
  turnId,
  turnState,
  turnStep,
  turnView,
  usage,
  usageSum,
  type WrittenBy,
  wokenShape,
} from "./shapes.ts";
export { jobBudget, jobCondition } from "./time-methods.ts";
