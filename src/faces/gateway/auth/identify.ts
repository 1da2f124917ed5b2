/**
 * From a request to its principal: a bearer token, else the browser's login. The server computes the rights.
 *
 * AUTH-1: no method is anonymous (AU-09).
 * AUTH-2: a wrong token is never made good by a cookie beside it.
 * AUTH-3: a cookie alone proves nothing: it reaches every port of this host, and any program that listens there can send it on
 *     with any header. A login is the cookie and its proof, a second secret that the page got once and keeps in its origin's storage.
 *     The proof comes as a header, and on a socket as part of the first frame.
 * AUTH-4: a change asked for by a login also says that it comes from our own page, by Origin or Sec-Fetch-Site (WS-05).
 */
import type { IncomingMessage } from "node:http";
import { AppError } from "../../../core/domain/index.ts";
import type { Principal } from "../../../core/protocol/index.ts";
import { bearer } from "../http.ts";
import type { Doorkeeper } from "../ports.ts";
import { callerKey, type Failures } from "./failures.ts";

/** The header with the login's second secret. Neither a form nor an image can send it. */
const PROOF_HEADER = "x-lares-proof";

export interface Identifier {
  /** Throws UNAUTHORIZED, FORBIDDEN or TOO_MANY. */
  identify(incoming: IncomingMessage): Principal;
  /** The same without an answer to a missing credential: `undefined` when none was shown. */
  tryIdentify(incoming: IncomingMessage): Principal | undefined;
  /** Who opens a socket: a token's principal; `unproven` with a known cookie, whose proof must follow; `undefined` otherwise. */
  upgrade(incoming: IncomingMessage): Principal | "unproven" | undefined;
  /** A token shown later, as the first frame of a socket. */
  token(incoming: IncomingMessage, token: string): Principal | undefined;
  /** The proof of the cookie that came with the upgrade, in the first frame of a socket. */
  proof(incoming: IncomingMessage, proof: string): Principal | undefined;
  /** Another credential, judged elsewhere: a wrong one counts like a wrong token. */
  other<T>(incoming: IncomingMessage, judge: () => Promise<T>): Promise<T | undefined>;
}

export function makeIdentifier(door: Doorkeeper, failures: Failures): Identifier {
  // Judged first, counted after: a right credential never meets the count (AUTH-10).
  const byToken = (incoming: IncomingMessage, token: string): Principal | undefined => {
    const found = door.byToken(token);
    if (!found) failures.add(callerKey(incoming));
    return found;
  };
  const readBearer = (incoming: IncomingMessage): Principal | undefined => {
    const { authorization } = incoming.headers;
    if (authorization === undefined) return undefined;
    const found = byToken(incoming, bearer(authorization) ?? "");
    if (!found) throw unauthorized("The token is not known.");
    return found;
  };
  const tryIdentify = (incoming: IncomingMessage): Principal | undefined => {
    const found = readBearer(incoming);
    const cookie = sessionCookie(incoming);
    if (found || cookie === undefined) return found;
    const proof = incoming.headers[PROOF_HEADER];
    const login = door.byLogin(cookie, typeof proof === "string" ? proof : undefined);
    if (login === "unknown") throw ended();
    if (login === "unproven") throw unproven();
    mustBeOwnPage(incoming);
    return login;
  };
  return {
    tryIdentify,
    identify(incoming) {
      const found = tryIdentify(incoming);
      if (!found) throw unauthorized("A token is needed.");
      return found;
    },
    upgrade(incoming) {
      const found = readBearer(incoming);
      const cookie = sessionCookie(incoming);
      if (found || cookie === undefined) return found;
      if (door.byLogin(cookie, undefined) === "unknown") throw ended();
      mustBeOwnPage(incoming);
      return "unproven";
    },
    token: byToken,
    proof(incoming, proof) {
      const cookie = sessionCookie(incoming);
      const found = cookie === undefined ? "unknown" : door.byLogin(cookie, proof);
      return typeof found === "string" ? undefined : found;
    },
    async other(incoming, judge) {
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
  // A socket is opened with GET and can change everything: browsers always send Origin with it.
  const isRead = (method === "GET" || method === "HEAD") && headers.upgrade === undefined;
  if (isRead || (headers.upgrade === undefined ? saysWhere : headers.origin !== undefined)) return;
  throw new AppError("FORBIDDEN", {
    message: "This request uses a browser's login but doesn't come from Lares' own page.",
    hint: "In a browser, use Lares' own page. A program sends Authorization: Bearer <token> instead of the cookie.",
  });
}

function ended(): AppError {
  return unauthorized("This browser's login has ended.");
}

function unproven(): AppError {
  return new AppError("UNAUTHORIZED", {
    message: `The login's cookie isn't enough: its proof (${PROOF_HEADER}) is missing or wrong.`,
    hint: "Sign in again in this browser with a link from `lares dashboard`; a program uses a token.",
    retry: "after-change",
  });
}

function unauthorized(message: string): AppError {
  return new AppError("UNAUTHORIZED", {
    message,
    hint: "Send Authorization: Bearer <token> (`lares token` prints it), or log in with a link from `lares dashboard`.",
    retry: "after-change",
  });
}
