/** Exit codes (UI.md §8) and which of them a failure or a turn's state becomes. */
import { AppError, assertNever, type ErrorCode, type TurnState } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  notAllowed: 4,
  notFound: 5,
  waiting: 6,
  declined: 7,
  interrupted: 130,
} as const;

const BY_ERROR: Partial<Record<ErrorCode, number>> = {
  BAD_REQUEST: EXIT.usage,
  GATEWAY_DOWN: EXIT.unreachable,
  NOT_READY: EXIT.unreachable,
  UNAUTHORIZED: EXIT.notAllowed,
  FORBIDDEN: EXIT.notAllowed,
  NOT_FOUND: EXIT.notFound,
  AGENT_UNKNOWN: EXIT.notFound,
  MODEL_UNKNOWN: EXIT.notFound,
  CHANNEL_UNKNOWN: EXIT.notFound,
};

export function exitForError(error: unknown): number {
  if (!(error instanceof AppError)) return EXIT.failed;
  // A wrong token stays a wrong token when too many of them have come.
  if (error.code === "TOO_MANY" && error.details?.reason === "credential") return EXIT.notAllowed;
  return BY_ERROR[error.code] ?? EXIT.failed;
}

export function exitForState(state: TurnState): number {
  switch (state) {
    case "answered":
    case "silent":
    case "joined":
      return EXIT.done;
    case "queued":
    case "running":
    case "parked":
      return EXIT.waiting;
    case "declined":
      return EXIT.declined;
    case "stopped":
      return EXIT.interrupted;
    case "failed":
    case "attention":
      return EXIT.failed;
    default:
      return assertNever(state);
  }
}

/** A command that cannot be meant: exit code 2. */
export function usage(message: string, hint?: string): AppError {
  return new AppError("BAD_REQUEST", { message, ...truthy({ hint }) });
}
