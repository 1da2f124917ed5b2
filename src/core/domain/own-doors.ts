/** Which ways into a session are the owner's own, and which of them add a new reader. */
import type { Authority } from "./message.ts";
import { isPersonAt } from "./origin-keys.ts";

/** How a message came in. */
export interface CameBy {
  channel: string;
  account: string;
  chat: string;
  person: string | null;
  speaker: Authority | "event" | null;
}

/** The owner's own: Lares itself, HTTP and WebSocket with the owner's token, a chat where the platform's id is the owner's. */
export function isOwnDoor({ channel, account, speaker }: CameBy): boolean {
  if (isGateway(channel)) return account === "owner";
  return channel === "none" || speaker === "owner";
}

/** The owner under a name: linked by `identities`, or whom the owner's token speaks for. */
export function isNamedDoor({ channel, chat, person }: CameBy): boolean {
  if (channel === "none") return false;
  if (isGateway(channel)) return chat !== "owner" && !chat.startsWith("once-");
  return person !== null && !isPersonAt(person, channel);
}

function isGateway(channel: string): boolean {
  return channel === "http" || channel === "ws";
}
