/** What goes wrong on the way to a server, in the distinctions that matter here. */
import { NeverSent, whyFailed } from "../../web/failure.ts";
import type { CallOutcome } from "../call/call.ts";

/** The server wants a login that only a person can do. */
export class NeedsLogin extends Error {}

/** Nothing was sent. */
export class NotReached extends Error {}

/** The SDK wraps what its transport throws. */
export function findCause<T extends Error>(error: unknown, kind: new (...given: never[]) => T): T | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at instanceof kind) return at;
  }
  return undefined;
}

/** The wire's errors in the one distinction that matters: did it happen, did it not, or does nobody know? (MCP-8) */
export function toOutcome(error: Error & { code?: unknown }, isSent: boolean): CallOutcome {
  if (!isSent || error instanceof NotReached) return { kind: "refused", why: error.message };
  const unsent = findCause(error, NeverSent);
  if (unsent) return { kind: "refused", why: whyFailed(unsent) };
  const status = readStatus(error);
  if (status) return { kind: "refused", why: `${error.message} (HTTP ${status})` };
  // A number is the server's own answer; the SDK's own failures have words for codes.
  if (typeof error.code === "number") return { kind: "refused", why: error.message };
  if (error.code === "NOT_CONNECTED" || error.code === "SEND_FAILED") return { kind: "refused", why: error.message };
  return { kind: "unknown", why: error.message };
}

/** The server's own no over HTTP; undefined for anything else. */
export function readStatus(error: Error & { status?: unknown; data?: unknown }): number | undefined {
  const data = error.data as { status?: unknown } | undefined;
  const status = error.status ?? data?.status;
  return typeof status === "number" && status >= 400 && status < 500 ? status : undefined;
}
