/** What the proxy says when it doesn't pass a call on, in the caller's own format so that its runtime understands it. */
import type { FailureClass, ModelApi, RelayFailure } from "../../../core/contracts/index.ts";
import { assertNever } from "../../../core/domain/index.ts";

export interface Refusal {
  status: number;
  message: string;
  /** No repetition helps: runtimes that would try for minutes give up at once. */
  isFinal: boolean;
  headers?: Readonly<Record<string, string>>;
}

export const NO_TOKEN: Refusal = {
  status: 401,
  message: "This door is for runs that Lares started. The token is missing, unknown, revoked or out of time.",
  isFinal: true,
};
export const NOT_HERE: Refusal = {
  status: 403,
  message: "This door is only for programs on this machine.",
  isFinal: true,
};
export const NO_SUCH_PATH: Refusal = {
  status: 404,
  message:
    "There is no such path here. Lares passes on /v1/messages, /v1/chat/completions, /v1/responses and /v1beta/models/MODEL:generateContent.",
  isFinal: true,
};
export const COMPRESSED: Refusal = { status: 415, message: "Send the request without compression.", isFinal: true };
export const TOO_LARGE: Refusal = { status: 413, message: "The request is larger than 32 MB.", isFinal: true };
export const TOO_MANY: Refusal = {
  status: 429,
  message: "This run already has as many model calls under way as it may.",
  isFinal: false,
  headers: { "retry-after": "1" },
};

export function badRequest(message: string): Refusal {
  return { status: 400, message, isFinal: true };
}

export function overBudget(message: string): Refusal {
  return { status: 402, message, isFinal: true };
}

/** Where no provider's own words are passed on. */
export function noAnswer({ failure, message, hint }: RelayFailure): Refusal {
  const isFinal = failure === "auth" || failure === "billing" || failure === "not-found";
  return { status: STATUS[failure], message: hint ? `${message} ${hint}` : message, isFinal };
}

const STATUS: Record<FailureClass, number> = {
  auth: 401,
  billing: 402,
  "rate-limit": 429,
  timeout: 504,
  overload: 503,
  "server-error": 502,
  "context-overflow": 400,
  format: 400,
  "not-found": 404,
  network: 502,
  "too-large": 502,
  unknown: 502,
};

/** The body of a refusal in this format. */
export function writeRefusal(api: ModelApi, { status, message }: Refusal): string {
  switch (api) {
    case "anthropic":
      return JSON.stringify({ type: "error", error: { type: anthropicType(status), message } });
    case "openai-chat":
    case "openai-responses":
      return JSON.stringify({ error: { message, type: openaiType(status), code: null, param: null } });
    case "google":
      return JSON.stringify({ error: { code: status, message, status: googleStatus(status) } });
    default:
      return assertNever(api);
  }
}

const ANTHROPIC: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
};

function anthropicType(status: number): string {
  return ANTHROPIC[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
}

function openaiType(status: number): string {
  if (status === 402) return "insufficient_quota";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

const GOOGLE: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  402: "FAILED_PRECONDITION",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
};

function googleStatus(status: number): string {
  return GOOGLE[status] ?? (status >= 500 ? "UNAVAILABLE" : "INVALID_ARGUMENT");
}
