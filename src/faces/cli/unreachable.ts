/**
 * Why an answer did not come, in one sentence each, with what to do. "Not running" is said only when nobody listens: somebody who
 * is refused, held up or sent too much would otherwise start a second Lares.
 */
import { AppError } from "../../core/domain/index.ts";

export function notRunning(cause?: unknown): AppError {
  return new AppError("GATEWAY_DOWN", {
    message: "Lares is not running.",
    hint: "Start it: lares gateway run",
    retry: "later",
    cause,
  });
}

/** Somebody listens there, so it is not "not running": nobody should start a second one. */
export function silent(url: string): AppError {
  return new AppError("NOT_READY", {
    message: `Lares at ${url} accepted the connection but doesn't answer: it may be stopped or busy.`,
    hint: "See: lares logs",
    retry: "later",
    details: { reason: "silent" },
  });
}

/** Beyond this a broken connection is most likely a refused body. The default of gateway.http.maxBodyBytes. */
const LARGE_BODY = 1_048_576;

/** What a request that got no answer failed on. `isAsked`: the address was given, so that is what may be wrong. */
export function httpFailure(cause: unknown, at: { url: string; isAsked: boolean; bytes: number }): AppError {
  const code = codeOf(cause);
  if (code === "ERR_INVALID_CHAR") return brokenToken(cause);
  if (code === "ECONNRESET" || code === "EPIPE" || code === "ECONNABORTED") {
    return at.bytes > LARGE_BODY ? tooLarge(at.bytes, cause) : cut(cause);
  }
  if (!at.isAsked) return notRunning(cause);
  return new AppError("GATEWAY_DOWN", {
    message: `Nothing answers at ${at.url}.`,
    hint: "Check the address, or start it: lares gateway run",
    retry: "later",
    cause,
  });
}

/** Why a socket was not opened: the status of a refused upgrade, or the code it was closed with. */
export function socketFailure(how: { status?: number; code?: number; cause?: unknown; url: string }): AppError {
  const { status, code, cause } = how;
  if (status !== undefined) return byStatus(status, how.url);
  switch (code) {
    case 4001:
    case 4003:
    case 4004:
      return refused();
    case 4029:
      return tooMany();
    case 4009:
    case 1009:
      return new AppError("BODY_TOO_LARGE", {
        message: "Lares refused the first message on the socket as too large: the token is far too long.",
        hint: "`lares token` prints the right one.",
        retry: "after-change",
      });
    case 1001:
    case 1013:
      return new AppError("NOT_READY", {
        message: "Lares is starting or stopping.",
        hint: "Try again shortly.",
        retry: "later",
      });
    default:
      return codeOf(cause) === "ECONNREFUSED" ? notRunning(cause) : cut(cause);
  }
}

function byStatus(status: number, url: string): AppError {
  switch (status) {
    case 401:
      return refused();
    case 403:
      return new AppError("FORBIDDEN", {
        message: `Lares doesn't accept the host name ${new URL(url).host}.`,
        hint: "Use the address Lares printed, or list the name in gateway.hosts.",
        retry: "after-change",
      });
    case 429:
      return tooMany();
    case 503:
      return new AppError("TOO_MANY", {
        message: "Lares is running, but too many connections are waiting to sign in.",
        hint: "Try again in ten seconds.",
        retry: "later",
      });
    default:
      return new AppError("INTERNAL", {
        message: `The server at ${url} refused the WebSocket (HTTP ${status}).`,
        hint: "Check the address.",
      });
  }
}

function refused(): AppError {
  return new AppError("UNAUTHORIZED", {
    message: "Lares refused the token.",
    hint: "`lares token` prints the right one.",
    retry: "after-change",
  });
}

function tooMany(): AppError {
  return new AppError("UNAUTHORIZED", {
    message: "Lares refused the token, and too many wrong ones have been tried from here.",
    hint: "Use the right one (`lares token` prints it); it works immediately.",
    retry: "after-change",
  });
}

function brokenToken(cause: unknown): AppError {
  return new AppError("UNAUTHORIZED", {
    message: "The token contains invalid characters.",
    hint: "`lares token` prints the right one.",
    retry: "after-change",
    cause,
  });
}

function tooLarge(bytes: number, cause: unknown): AppError {
  return new AppError("BODY_TOO_LARGE", {
    message: `Lares cut off the request while it was being sent; it was ${(bytes / 1_048_576).toFixed(1)} MB.`,
    hint: "Send less, or raise gateway.http.maxBodyBytes (gateway.http.maxImportBytes for imports).",
    cause,
  });
}

function cut(cause: unknown): AppError {
  return new AppError("NOT_READY", {
    message: "The connection to Lares broke before it answered.",
    hint: "Check lares status and lares logs, then try again.",
    retry: "later",
    cause,
  });
}

function codeOf(cause: unknown): string | undefined {
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}
