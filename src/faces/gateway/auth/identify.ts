/**
 * From a request to its principal: a bearer token, else the browser's cookie. The server computes the rights.
 *
 * A1: no method is anonymous (AU-09).
 * A2: a wrong token is never made good by a cookie beside it.
 * A3: a change asked for with a cookie must come from our own page: Origin or Sec-Fetch-Site says so, and a header that
 *     only a script of our origin can set is there (WS-05).
 */
import type { IncomingMessage } from "node:http";
import { AppError } from "../../../core/domain/index.ts";
import type { Principal } from "../../../core/protocol/index.ts";
import { bearer } from "../http.ts";
import type { Doorkeeper } from "../ports.ts";
import { callerKey, type Failures } from "./failures.ts";

/** The header a page sends with every change; any value. A form or an image cannot send it. */
export const CSRF_HEADER = "x-lares-csrf";

export interface Identifier {
  /** Throws UNAUTHORIZED, FORBIDDEN or TOO_MANY. */
  identify(incoming: IncomingMessage): Principal;
  /** The same without an answer to a missing credential: `undefined` when none was shown. */
  tryIdentify(incoming: IncomingMessage): Principal | undefined;
  /** A token shown later, as the first frame of a socket. */
  token(incoming: IncomingMessage, token: string): Principal | undefined;
  /** Another credential, judged elsewhere: a wrong one counts like a wrong token. */
  other<T>(incoming: IncomingMessage, judge: () => Promise<T>): Promise<T | undefined>;
}

export function makeIdentifier(door: Doorkeeper, failures: Failures): Identifier {
  const check = (incoming: IncomingMessage, find: () => Principal | undefined, what = "token") => {
    // Cookies are counted apart: a tab left open with an old login must not keep its owner from logging in again.
    const caller = what === "token" ? callerKey(incoming) : `${what} ${callerKey(incoming)}`;
    failures.check(caller);
    const found = find();
    if (!found) failures.add(caller);
    return found;
  };
  const tryIdentify = (incoming: IncomingMessage): Principal | undefined => {
    const { authorization } = incoming.headers;
    if (authorization !== undefined) {
      const found = check(incoming, () => door.byToken(bearer(authorization) ?? ""));
      if (!found) throw unauthorized("The token is not known.");
      return found;
    }
    const secret = sessionCookie(incoming);
    if (secret === undefined) return undefined;
    const found = check(incoming, () => door.byCookie(secret), "cookie");
    if (!found) throw unauthorized("This browser's login has ended.");
    mustBeOwnPage(incoming);
    return found;
  };
  return {
    tryIdentify,
    identify(incoming) {
      const found = tryIdentify(incoming);
      if (!found) throw unauthorized("A token is needed.");
      return found;
    },
    token: (incoming, token) => check(incoming, () => door.byToken(token)),
    async other(incoming, judge) {
      failures.check(callerKey(incoming));
      try {
        return await judge();
      } catch (error) {
        const isWrong = error instanceof AppError && ["UNAUTHORIZED", "CHANNEL_UNKNOWN"].includes(error.code);
        if (!isWrong) throw error;
        failures.add(callerKey(incoming));
        return undefined;
      }
    },
  };
}

/** Cookies are shared by all ports of a host, so the name carries ours: two Lares do not log each other out. */
export function cookieName(incoming: IncomingMessage): string {
  return `lares_${incoming.socket.localPort ?? 0}`;
}

export function sessionCookie(incoming: IncomingMessage): string | undefined {
  const name = `${cookieName(incoming)}=`;
  for (const part of (incoming.headers.cookie ?? "").split(";")) {
    const text = part.trim();
    if (text.startsWith(name)) return text.slice(name.length) || undefined;
  }
  return undefined;
}

function mustBeOwnPage(incoming: IncomingMessage): void {
  const { headers, method } = incoming;
  // The guard has already refused foreign values; here one of them must be there at all.
  const saysWhere = headers.origin !== undefined || headers["sec-fetch-site"] === "same-origin";
  if (method === "GET" || method === "HEAD") {
    // A socket is opened with GET and can change everything: browsers always send Origin with it.
    if (headers.upgrade === undefined || headers.origin !== undefined) return;
  } else if (saysWhere && headers[CSRF_HEADER] !== undefined) return;
  throw new AppError("FORBIDDEN", {
    message: "A change with a browser's login must come from Lares' own page.",
    hint: `Send the header ${CSRF_HEADER}: 1, or use a token.`,
  });
}

function unauthorized(message: string): AppError {
  return new AppError("UNAUTHORIZED", {
    message,
    hint: "Send Authorization: Bearer <token> (`lares token` prints it), or log in with a link from `lares dashboard`.",
    retry: "after-change",
  });
}
