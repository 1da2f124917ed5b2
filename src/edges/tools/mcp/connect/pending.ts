/** A login that was begun: what the browser's answer is held against. Read without the SDK, for requests that prove nothing yet. */
import { isSameSecret } from "../../../../core/kit/index.ts";

/** How long a person may take. */
const LOGIN_MS = 30 * 60_000;

export interface PendingLogin {
  state: string;
  at: number;
  /** Absent in logins that an older version began. */
  redirect?: string;
}

/** `kept`: what the vault holds of a server's login. */
export function readPending(kept: string | undefined): PendingLogin | undefined {
  return kept === undefined ? undefined : (JSON.parse(kept) as { pending?: PendingLogin }).pending;
}

export function isEndOf(pending: PendingLogin | undefined, state: string, now: number): pending is PendingLogin {
  return isOpen(pending, now) && isSameSecret(state, pending.state);
}

export function isOpen(pending: PendingLogin | undefined, now: number): pending is PendingLogin {
  return pending !== undefined && now - pending.at < LOGIN_MS;
}
