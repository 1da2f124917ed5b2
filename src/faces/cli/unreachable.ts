/**
 * Why an answer did not come, in one sentence each, with what to do. "Not running" is said only when nobody listens: somebody who
 * is refused, held up or sent too much would otherwise start a second Lares.
 */
import { AppError } from "../../core/domain/index.ts";
import { commonWords } from "./words/common.ts";
import { reachWords as words } from "./words/reach.ts";

export function notRunning(cause?: unknown): AppError {
  return new AppError("GATEWAY_DOWN", {
    message: commonWords.notRunning,
    hint: words.startIt,
    retry: "later",
    cause,
  });
}

/** Somebody listens there, so it is not "not running": nobody should start a second one. */
export function silent(url: string): AppError {
  return new AppError("NOT_READY", {
    message: words.silent(url),
    hint: words.seeLogs,
    retry: "later",
    details: { reason: "silent" },
  });
}

/** Beyond this a broken connection is most likely a refused body. The default of gateway.http.maxBodyBytes. */
const LARGE_BODY = 1_048_576;

/** What a request that got no answer failed on. `isAsked`: the address was given, so that is what may be wrong. */
export function httpFailure(cause: unknown, at: { url: string; isAsked: boolean; bytes: number }): AppError {
  const code = readCode(cause);
  if (code === "ERR_INVALID_CHAR") return brokenToken(cause);
  if (code === "ECONNRESET" || code === "EPIPE" || code === "ECONNABORTED") {
    return at.bytes > LARGE_BODY ? tooLarge(at.bytes, cause) : cut(cause);
  }
  if (!at.isAsked) return notRunning(cause);
  return new AppError("GATEWAY_DOWN", {
    message: words.nothingAt(at.url),
    hint: words.nothingAtHint,
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
        message: words.tokenTooLong,
        hint: words.rightToken,
        retry: "after-change",
      });
    case 1001:
    case 1013:
      return new AppError("NOT_READY", {
        message: words.startingOrStopping,
        hint: words.tryShortly,
        retry: "later",
      });
    default:
      return readCode(cause) === "ECONNREFUSED" ? notRunning(cause) : cut(cause);
  }
}

function byStatus(status: number, url: string): AppError {
  switch (status) {
    case 401:
      return refused();
    case 403:
      return new AppError("FORBIDDEN", {
        message: words.host(new URL(url).host),
        hint: words.hostHint,
        retry: "after-change",
      });
    case 429:
      return tooMany();
    case 503:
      return new AppError("TOO_MANY", {
        message: words.tooManyWaiting,
        hint: words.tryInTenSeconds,
        retry: "later",
      });
    default:
      return new AppError("INTERNAL", {
        message: words.refusedSocket(url, status),
        hint: words.checkAddress,
      });
  }
}

function refused(): AppError {
  return new AppError("UNAUTHORIZED", {
    message: words.refused,
    hint: words.rightToken,
    retry: "after-change",
  });
}

function tooMany(): AppError {
  return new AppError("UNAUTHORIZED", {
    message: words.tooManyWrong,
    hint: words.tooManyWrongHint,
    retry: "after-change",
  });
}

function brokenToken(cause: unknown): AppError {
  return new AppError("UNAUTHORIZED", {
    message: words.badToken,
    hint: words.rightToken,
    retry: "after-change",
    cause,
  });
}

function tooLarge(bytes: number, cause: unknown): AppError {
  return new AppError("BODY_TOO_LARGE", {
    message: words.tooLarge((bytes / 1_048_576).toFixed(1)),
    hint: words.tooLargeHint,
    cause,
  });
}

function cut(cause: unknown): AppError {
  return new AppError("NOT_READY", {
    message: words.cut,
    hint: words.cutHint,
    retry: "later",
    cause,
  });
}

function readCode(cause: unknown): string | undefined {
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}
