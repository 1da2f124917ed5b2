/**
 * How OpenAI shapes a failure, for Chat Completions and Responses alike.
 *
 * Documentation: https://platform.openai.com/docs/guides/error-codes
 */
import type { FailureKind, ScriptedFailure } from "./types.ts";

const FAILURES: Record<FailureKind, { status: number; type: string; code: string | null; message: string }> = {
  auth: {
    status: 401,
    type: "invalid_request_error",
    code: "invalid_api_key",
    message: "Incorrect API key provided: sk-pr****xyz.",
  },
  billing: {
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: "You exceeded your current quota, please check your plan and billing details.",
  },
  "rate-limit": {
    status: 429,
    type: "requests",
    code: "rate_limit_exceeded",
    message: "Rate limit reached for requests. Please try again in 1s.",
  },
  overload: {
    status: 503,
    type: "server_error",
    code: null,
    message: "The engine is currently overloaded, please try again later.",
  },
  "context-overflow": {
    status: 400,
    type: "invalid_request_error",
    code: "context_length_exceeded",
    message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
  },
  format: {
    status: 400,
    type: "invalid_request_error",
    code: null,
    message: "Invalid type for 'messages[0].content': expected a string, but got null instead.",
  },
  "not-found": {
    status: 404,
    type: "invalid_request_error",
    code: "model_not_found",
    message: "The model `no-such-model` does not exist or you do not have access to it.",
  },
  server: { status: 500, type: "server_error", code: null, message: "The server had an error." },
};

export function openaiFailure(fail: ScriptedFailure): {
  status: number;
  body: { error: { message: string; type: string; param: null; code: string | null } };
} {
  const known = FAILURES[fail.kind ?? "server"];
  return {
    status: fail.status ?? known.status,
    body: { error: { message: fail.message ?? known.message, type: known.type, param: null, code: known.code } },
  };
}
