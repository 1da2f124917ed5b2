import type { JsonObject } from "./json.ts";
import { type AccountKey, toAccountName } from "./keys.ts";
import type { Origin } from "./message.ts";

/** Whether trying again can help: never, later without a change, or after somebody changed something. */
export type Retry = "never" | "later" | "after-change";

/** Every code a reader may meet, with the HTTP status it becomes at the gateway. Codes are stable. */
export const ERROR_CODES = {
  BAD_REQUEST: 400,
  BAD_JSON: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  UNKNOWN_METHOD: 404,
  CONFLICT: 409,
  ALREADY_ANSWERED: 409,
  BODY_TOO_LARGE: 413,
  TYPE_REFUSED: 415,
  TOO_MANY: 429,
  INTERNAL: 500,
  NOT_READY: 503,
  STORAGE_FULL: 507,
  STORAGE_FAILED: 500,
  HOME_LOCKED: 409,
  HOME_FENCED: 500,
  DATABASE_NEWER: 500,
  DATABASE_UNREADABLE: 500,
  BACKUP_SEALED: 403,
  BACKUP_DAMAGED: 500,
  JOURNAL_MISMATCH: 500,
  CONFIG_INVALID: 400,
  AGENT_UNKNOWN: 404,
  MODEL_UNKNOWN: 404,
  MODEL_FAILED: 502,
  TOOL_INPUT: 400,
  PATH_OUTSIDE: 403,
  CHANNEL_UNKNOWN: 404,
  CHANNEL_SEND: 502,
  GATEWAY_DOWN: 503,
} as const;
export type ErrorCode = keyof typeof ERROR_CODES;

export interface ErrorShape {
  code: ErrorCode;
  message: string;
  hint?: string;
  retry: Retry;
  details?: JsonObject;
}

/** The one family of failures. `message`: what happened, with the value. `hint`: what the reader does next. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retry: Retry;
  readonly details: JsonObject | undefined;
  /** For a tool's failure: `own` where nothing in the message comes from a file, a page or another person (I12). */
  readonly origin: Origin | undefined;

  constructor(
    code: ErrorCode,
    what: { message: string; hint?: string; retry?: Retry; details?: JsonObject; cause?: unknown; origin?: Origin },
  ) {
    super(what.message, what.cause === undefined ? undefined : { cause: what.cause });
    this.name = "AppError";
    this.code = code;
    this.hint = what.hint;
    this.retry = what.retry ?? "never";
    this.details = what.details;
    this.origin = what.origin;
  }

  get status(): number {
    return ERROR_CODES[this.code];
  }

  toShape(): ErrorShape {
    return {
      code: this.code,
      message: this.message,
      ...(this.hint ? { hint: this.hint } : {}),
      retry: this.retry,
      ...(this.details ? { details: this.details } : {}),
    };
  }
}

const OVER: ReadonlySet<string> = new Set(["STORAGE_FULL", "STORAGE_FAILED", "HOME_FENCED", "NOT_READY"]);

/** What everything under way fails with when Lares stops or its records fail: no fault of its own, the next start goes on. */
export function isOver(error: unknown): boolean {
  return error instanceof AppError && OVER.has(error.code);
}

/** Any thrown thing as the shape a client may see. A bug shows its message, never its stack. */
export function toErrorShape(error: unknown): ErrorShape {
  if (error instanceof AppError) return error.toShape();
  return { code: "INTERNAL", message: error instanceof Error ? error.message : String(error), retry: "later" };
}

/** Nobody of that name: `known` are the names that could have been meant. */
export function unknownAgent(agent: string, known?: readonly string[]): AppError {
  return new AppError("AGENT_UNKNOWN", {
    message: noAgent(agent),
    hint: known ? `Known agents: ${known.join(", ") || "none"}.` : "See: lares agents list",
    retry: "after-change",
  });
}

export function noAgent(agent: string): string {
  return `There is no agent "${agent}".`;
}

/** Why nothing can go to an account: it is switched off, or there is none. */
export type Unreachable = "off" | "unknown";

/** Said of jobs, hooks and heartbeats alike. */
export function nowhereToDeliver(at: AccountKey, why: Unreachable): { message: string; hint?: string } {
  const start = `Nothing can be delivered to ${toAccountName(at)}`;
  if (why === "unknown") return { message: `${start}: it isn't set up.` };
  const hint = `Switch it on: lares config set channels.${at.channel}.${at.account}.enabled true`;
  return { message: `${start}: it is off.`, hint };
}

/** What follows the news that something was removed whose approvals, with these codes, were open. */
export function approvalsWithdrawn(codes: readonly string[]): string {
  if (codes.length === 0) return "";
  const [what, verb] = codes.length === 1 ? ["approval", "is"] : ["approvals", "are"];
  return ` Its open ${what} (${codes.join(", ")}) ${verb} withdrawn: nothing of it runs.`;
}

/** The end of a closed switch: a case that was added and forgotten here fails to compile. */
export function assertNever(value: never): never {
  const given: unknown = value;
  // A whole object may hold secrets.
  throw new Error(`unexpected value ${typeof given === "object" ? "of an unknown kind" : JSON.stringify(given)}`);
}
