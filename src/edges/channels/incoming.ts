/** What adapters share on the way in: a platform's raw thing read under guard, and a request's body. */
import {
  type AccountPolicy,
  type ChannelHost,
  findGroup,
  type PlatformEvent,
  type Raw,
} from "../../core/contracts/index.ts";
import { parseJsonBody } from "../../core/kit/index.ts";

/** Reads a raw thing under guard; one that doesn't fit is counted as unreadable, and the adapter goes on without it. */
export function readRaw<T>(
  door: Pick<ChannelHost, "read" | "unreadable">,
  raw: Raw,
  read: () => T | "unreadable",
): T | undefined {
  const found = door.read(raw, read);
  if (found !== "unreadable") return found;
  door.unreadable(raw.kind, String(raw.id ?? ""));
  return undefined;
}

/** The JSON of a request whose sender is proven. */
export function parseBody(body: Buffer): unknown {
  return parseJsonBody(body, "Send one JSON object.");
}

/** Whether a chat is worth reading back after a long stop: not for messages that would be ignored anyway. */
export function isWorthReadingBack(event: PlatformEvent, policy: AccountPolicy): boolean {
  if (event.kind !== "message") return false;
  if (event.chat.kind === "direct" || event.addressed) return true;
  return findGroup(policy, event.chat.id)?.mention === false;
}
