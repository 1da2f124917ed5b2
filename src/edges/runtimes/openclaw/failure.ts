/** What went wrong, from what OpenClaw says about it: its own word, a status, and words for people. Pure. */
import type { RunEventBody } from "../../../core/contracts/index.ts";
import { asNumber, asObject, asText } from "../../../core/domain/index.ts";
import { readFailure } from "../acp/failure.ts";

type ClawFailure = Omit<Extract<RunEventBody, { type: "error" }>, "type">;

/** Its words for why it looks for another model. */
const REASONS: Readonly<Record<string, ClawFailure["failure"]>> = {
  auth: "auth",
  auth_permanent: "auth",
  billing: "billing",
  rate_limit: "rate-limit",
  overloaded: "overload",
  timeout: "timeout",
  server_error: "server-error",
  format: "format",
  model_not_found: "not-found",
  context_overflow: "context-overflow",
  network: "network",
};

const HINT = "OpenClaw calls its model with its own key. Check it: openclaw models status";
/** Signs for people stand before its words. */
const SIGN = /^[^\p{L}\p{N}]{1,20}/u;

export function readReason(reason: unknown): ClawFailure["failure"] | undefined {
  const word = String(reason);
  return Object.hasOwn(REASONS, word) ? REASONS[word] : undefined;
}

export function readClawFailure({ errorMessage, errorDetail, errorKind }: Record<string, unknown>): ClawFailure {
  const detail = asObject(errorDetail);
  const status = asNumber(detail.httpStatus);
  const said = (asText(errorMessage) ?? "").replace(SIGN, "");
  const guess = readFailure(status ?? 0, said);
  const failure = readReason(detail.failoverReason) ?? readReason(errorKind) ?? guess.failure;
  return { failure, text: guess.text, hint: failure === "auth" || failure === "billing" ? HINT : null };
}
