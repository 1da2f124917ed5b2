/** Errors as OpenAI's clients expect them. */
import type { Context } from "hono";
import { ERROR_CODES, type ErrorCode, toErrorShape } from "../../../core/domain/index.ts";
import type { ChatAnswer } from "../../../core/protocol/index.ts";
import { answerHeaders } from "../call.ts";
import { asRead, type HttpEnv, publicShape, type Speaking } from "../http.ts";
import { toFacts } from "./truth.ts";

/** Codes that have their own name over there. */
const CODES: Partial<Record<ErrorCode, string>> = {
  UNAUTHORIZED: "invalid_api_key",
  AGENT_UNKNOWN: "model_not_found",
  MODEL_UNKNOWN: "model_not_found",
  TOO_MANY: "rate_limit_exceeded",
};

export function openaiError(c: Context<HttpEnv>, error: unknown, { log, redact, program }: Speaking): Response {
  const inner = asRead(toErrorShape(error), program);
  if (inner.code === "INTERNAL") log.error("request broke", { error: String((error as Error).stack ?? error) });
  const shape = publicShape(inner, redact);
  const status = ERROR_CODES[shape.code];
  return c.json({ error: openaiShape(shape) }, status as 400);
}

export function openaiShape(shape: ReturnType<typeof publicShape>) {
  const status = ERROR_CODES[shape.code];
  const field = shape.details?.field;
  return {
    message: shape.hint ? `${shape.message} ${shape.hint}` : shape.message,
    type: toErrorType(status),
    code: CODES[shape.code] ?? shape.code.toLowerCase(),
    param: typeof field === "string" ? field : null,
  };
}

/** A turn that ended without an answer. The clients try a 5xx again by themselves; that would be a second turn. */
export function turnFailed(c: Context<HttpEnv>, answer: ChatAnswer, formatField: string): Response {
  if (answer.failure === "answer-format") return formatFailed(c, answer, failedShape(answer, formatField));
  return c.json({ error: failedShape(answer, formatField) }, chooseStatus(answer), {
    ...answerHeaders(answer),
    "x-should-retry": "false",
  });
}

/** `formatField`: where the caller asked for a format. */
export function failedShape(answer: ChatAnswer, formatField: string) {
  // None of OpenAI's finish reasons says that somebody stopped it: "stop" would mean that the answer is whole.
  if (answer.state === "stopped") return { message: STOPPED, type: "server_error", code: "turn_stopped", param: null };
  const message = answer.reason ?? "The turn failed.";
  if (answer.failure === "answer-format") return wrongFormat(message, formatField);
  // The provider knows no such model: that is the caller's to correct.
  if (answer.failure === "not-found")
    return { message, type: "invalid_request_error", code: "model_not_found", param: "model" };
  // The model refused the request as it stands, tools and settings of the caller included.
  if (answer.failure === "format") return { message, type: "invalid_request_error", code: "turn_failed", param: null };
  // As OpenAI says it; the clients don't try it again.
  if (answer.failure === "budget")
    return { message, type: "insufficient_quota", code: "insufficient_quota", param: null };
  return { message, type: "server_error", code: "turn_failed", param: null };
}

/** The model answered, but not as it was asked to. `field`: where the caller asked for it. */
export function wrongFormat(message: string, field: string) {
  return { message, type: "server_error", code: "answer_format", param: field };
}

export function formatFailed(c: Context<HttpEnv>, answer: ChatAnswer, error: object): Response {
  return c.json({ error, lares: toFacts(answer) }, 502, { ...answerHeaders(answer), "x-should-retry": "false" });
}

export function hasFailed(answer: ChatAnswer): boolean {
  // Lares declined, for example because a budget is used up. When the model declines, its words are the answer.
  if (answer.state === "declined") return answer.failure !== undefined;
  return answer.state === "failed" || answer.state === "attention" || answer.state === "stopped";
}

const STOPPED = "The turn was stopped before its answer was complete.";

function toErrorType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

function chooseStatus({ state, failure }: ChatAnswer): 400 | 404 | 409 | 429 | 502 {
  if (state === "stopped") return 409;
  if (failure === "budget") return 429;
  if (failure === "not-found") return 404;
  return failure === "format" ? 400 : 502;
}
