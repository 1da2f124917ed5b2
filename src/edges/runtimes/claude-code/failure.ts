/** What went wrong, from a status of HTTP and the words of Claude Code about it. Pure. */
import type { RunEventBody } from "../../../core/contracts/index.ts";
import { asList, asNumber, asText } from "../../../core/domain/index.ts";
import { readFailure } from "../acp/failure.ts";
import { claudeWords as words } from "./words.ts";

type RunError = Extract<RunEventBody, { type: "error" }>;

const STATUSES: Readonly<Record<number, RunError["failure"]>> = {
  401: "auth",
  402: "billing",
  403: "auth",
  404: "not-found",
  413: "too-large",
  429: "rate-limit",
  529: "overload",
};

/** No repetition heals these. */
export const HOPELESS: ReadonlySet<RunError["failure"]> = new Set(["auth", "billing"]);

export function classify(status: unknown, said: string): RunError["failure"] {
  const number = asNumber(status);
  if (number !== undefined && Object.hasOwn(STATUSES, number)) return STATUSES[number]!;
  if (number !== undefined && number >= 500) return "server-error";
  return readFailure(0, said).failure;
}

/** A result that is an error. Whether it is one, `is_error` says: `subtype` is "success" for a model that failed. */
export function readError(result: Readonly<Record<string, unknown>>): RunError {
  const said = asText(result.result) ?? asList(result.errors).map(String).join("\n");
  const { text, failure: guess } = readFailure(0, said.trim() || words.failed);
  const failure =
    result.terminal_reason === "prompt_too_long" ? "context-overflow" : classify(result.api_error_status, text);
  const named = failure === "unknown" ? guess : failure;
  return { type: "error", failure: named, text, hint: named === "auth" ? words.checkKey : null };
}
