/**
 * Names what went wrong. `classify` is pure: status, body and exception in, one FailureClass out. Providers disagree
 * on status codes (Google says 400 for a bad key, Anthropic 400 for no credit, OpenAI 429), so words go before numbers.
 */
import type { FailureClass } from "../../../core/contracts/index.ts";
import { TOO_LARGE } from "../wire/bounds.ts";

/** What is known of a failed attempt, whatever library it came from. */
export interface Evidence {
  status: number | null;
  /** The provider's answer, or the text of an error event. */
  body: string;
  message: string;
  /** Codes of the exception and its causes: ECONNREFUSED, UND_ERR_SOCKET. */
  codes: readonly string[];
  retryAfterMs: number | null;
}

const OVERFLOW =
  /prompt is too long|context[_ ]length[_ ]exceeded|maximum context length|context window|exceeds the maximum number of tokens|input (is|token count).{0,40}(too long|exceeds)|too many tokens in (the )?(prompt|request)|request_too_large|exceed_context_size/i;
const BILLING =
  /credit balance|insufficient[_ ](quota|credits?|funds)|exceeded your current quota|billing|payment required|out of credits|spend(ing)? limit/i;
const AUTH =
  /authentication_error|invalid[_ ]api[_ ]key|incorrect api key|api key not valid|invalid x-api-key|unauthori[sz]ed|permission_error|api_key_invalid|missing api key|no auth credentials/i;
const RATE = /rate[_ ]limit|too many requests|resource_exhausted|resource has been exhausted|tokens per minute/i;
const OVERLOAD = /overloaded|over capacity|\bunavailable\b|try again later/i;
const SERVER_ERROR = /server_error|api_error|internal (server )?error|"?INTERNAL"?\b/i;
const NOT_FOUND =
  /not_found_error|model_not_found|is not found|does not exist|no such model|unknown model|model .{0,60}not found/i;
const NETWORK_CODE =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH|UND_ERR_SOCKET|UND_ERR_CLOSED|ERR_STREAM_PREMATURE_CLOSE|CERT_\w+|DEPTH_ZERO\w*|SELF_SIGNED\w*|UNABLE_TO_\w+|ERR_TLS_\w+|HPE_\w+)$/;
const TIMEOUT_CODE = /^(ETIMEDOUT|ESOCKETTIMEDOUT|UND_ERR_\w*TIMEOUT|IDLE_TIMEOUT|FIRST_BYTE_TIMEOUT)$/;
const NETWORK_WORDS = /terminated|other side closed|socket hang up|fetch failed|cannot connect|network|ended early/i;

export function classify(evidence: Evidence): FailureClass {
  const { status, codes } = evidence;
  if (codes.includes(TOO_LARGE)) return "too-large";
  if (codes.some((code) => TIMEOUT_CODE.test(code))) return "timeout";
  if (status === null && codes.some((code) => NETWORK_CODE.test(code))) return "network";
  const words = `${evidence.body} ${evidence.message}`;

  if (OVERFLOW.test(words) || status === 413) return "context-overflow";
  if (status === 402 || BILLING.test(words)) return "billing";
  if (status === 401 || AUTH.test(words)) return "auth";
  if (status === 429 || RATE.test(words)) return "rate-limit";
  if (status === 403) return "auth";
  if (status === 404 || NOT_FOUND.test(words)) return "not-found";
  if (status === 408 || status === 504 || status === 524) return "timeout";
  if (status !== null && status >= 500) return isOverload(status, words) ? "overload" : "server-error";
  if (status !== null && status >= 400) return "format";
  if (OVERLOAD.test(words)) return "overload";
  if (SERVER_ERROR.test(words)) return "server-error";
  if (/invalid_request_error|INVALID_ARGUMENT/.test(words)) return "format";
  if (/time[d ]?-?out/i.test(evidence.message)) return "timeout";
  if (NETWORK_WORDS.test(evidence.message)) return "network";
  return "unknown";
}

/** 503 and 529 mean it; other failures of the server only when it says so. */
function isOverload(status: number, words: string): boolean {
  return status === 503 || status === 529 || OVERLOAD.test(words);
}

/** How many tokens the model holds, where the provider says so. */
export function limitIn(evidence: Evidence): number | undefined {
  const words = `${evidence.body} ${evidence.message}`;
  const found = LIMITS.flatMap((pattern) => pattern.exec(words)?.[1] ?? []).map((digits) =>
    Number(digits.replace(/[,_]/g, "")),
  );
  return found.find((tokens) => tokens >= 512);
}

const LIMITS = [
  // Anthropic: "prompt is too long: 210000 tokens > 200000 maximum"
  /> ?([\d,]+) maximum/i,
  // OpenAI, vLLM: "maximum context length is 8192 tokens"
  /maximum context length (?:is|of) ([\d,]+)/i,
  // Google: "exceeds the maximum number of tokens allowed (1048576)"
  /maximum number of tokens allowed \(?([\d,]+)/i,
  // llama.cpp: "exceeds the available context size (4096 tokens"
  /(?:available )?context (?:size|window)(?: of)? \(?([\d,]+)/i,
  /"n_ctx"\s*:\s*(\d+)/,
];

/** Gathers the evidence from whatever was thrown or came as an error event. Reads, never trusts. */
export function readEvidence(error: unknown, now: number): Evidence {
  if (typeof error === "string") return { status: null, body: "", message: error, codes: [], retryAfterMs: null };
  const top = asRecord(error);
  const headers = asRecord(top.responseHeaders);
  const codes: string[] = [];
  const messages: string[] = [];
  let cause: unknown = error;
  // Causes are nested by the client library, fetch and the socket; four is more than any of them does.
  for (let depth = 0; depth < 4 && typeof cause === "object" && cause !== null; depth++) {
    const record = asRecord(cause);
    if (typeof record.code === "string") codes.push(record.code);
    // A library's own walk through an answer nested too deep.
    if (cause instanceof RangeError) codes.push(TOO_LARGE);
    // Libraries put what they could not parse into the message, all of it.
    if (typeof record.message === "string") messages.push(record.message.slice(0, MOST_MESSAGE));
    cause = record.cause;
  }
  const status = typeof top.statusCode === "number" ? top.statusCode : null;
  // The stream began well: 200 is not what went wrong.
  const failedStatus = status !== null && status >= 400 ? status : null;
  return {
    status: failedStatus,
    body: readBody(error, top.responseBody),
    message: messages.join(": "),
    codes,
    retryAfterMs: retryAfterMs(headers, now),
  };
}

function readBody(error: unknown, answered: unknown): string {
  if (typeof answered === "string") return answered.slice(0, MOST_BODY);
  return error instanceof Error ? "" : safeJson(error);
}

/** More than any provider's own words about a failure. */
const MOST_MESSAGE = 4000;
/** The same for the body of an answer, which is already cut where our own client reads it. */
const MOST_BODY = 64 * 1024;

/** Seconds, or a date; OpenAI and Anthropic also say it in milliseconds. An hour is the most we believe. */
export function retryAfterMs(headers: Record<string, unknown>, now: number): number | null {
  const ms = Number(headers["retry-after-ms"]);
  if (Number.isFinite(ms) && ms > 0) return Math.min(ms, 3_600_000);
  const value = headers["retry-after"];
  if (typeof value !== "string" || value === "") return null;
  const seconds = Number(value);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - now;
  return Number.isFinite(wait) && wait >= 0 ? Math.min(wait, 3_600_000) : null;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function safeJson(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? "").slice(0, MOST_BODY);
  } catch {
    return "";
  }
}
