/**
 * Wrong credentials, counted. Loopback has no exemption: a page on this machine knocks from there too (WS-03).
 *
 * AUTH-10: only wrong credentials are held up. A right one is always let in, however many wrong ones came from the same address or
 *     over the same connection: otherwise anybody on this machine could lock its owner out. What keeps guessing hopeless is the
 *     length of the secrets, not the count; the count tells a confused program to stop.
 * AUTH-11: the table is bounded; a flood of new callers pushes out the oldest, never more memory (DO-07).
 */
import type { IncomingMessage } from "node:http";
import { AppError } from "../../../core/domain/index.ts";
import { canonicalAddress } from "./address.ts";

/** A person mistypes a few times; nobody mistypes twenty times a minute. */
const MOST_FAILURES = 20;
const WINDOW_MS = 60_000;
const MOST_CALLERS = 4096;

export class Failures {
  private readonly seen = new Map<string, { count: number; since: number }>();
  private readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  /** Counts a wrong credential; throws TOO_MANY when this caller has shown too many of them. */
  add(caller: string): void {
    const now = this.now();
    const known = this.seen.get(caller);
    if (known && now - known.since < WINDOW_MS) {
      known.count++;
      if (known.count <= MOST_FAILURES) return;
      throw new AppError("TOO_MANY", {
        message: "This credential is wrong, and too many wrong ones have been tried from here.",
        hint: `Use the right one now, or wait ${Math.ceil((known.since + WINDOW_MS - now) / 1000)} s.`,
        retry: "later",
        details: { reason: "credential" },
      });
    }
    this.seen.delete(caller);
    this.seen.set(caller, { count: 1, since: now });
    if (this.seen.size > MOST_CALLERS) this.seen.delete(this.seen.keys().next().value!);
  }

  get size(): number {
    return this.seen.size;
  }
}

/**
 * Where a request comes from. The origin itself is not part of it: only our own passes the guard, and its port is the
 * caller's to choose.
 */
export function callerKey(incoming: IncomingMessage): string {
  const { headers } = incoming;
  return `${readKind(headers)} ${canonicalAddress(incoming.socket.remoteAddress)}`;
}

function readKind(headers: IncomingMessage["headers"]): "page" | "browser" | "program" {
  if (headers.origin !== undefined) return "page";
  return headers["sec-fetch-site"] !== undefined ? "browser" : "program";
}
