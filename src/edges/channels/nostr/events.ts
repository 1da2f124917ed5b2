/** From an unwrapped rumor to our events. Pure. */
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import type { Keys, Rumor } from "./keys.ts";

export const WRAP = 1059;
export const MESSAGE = 14;
const REACTION = 7;

export function toEvent(keys: Keys, rumor: Rumor): PlatformEvent | undefined {
  if (rumor.pubkey === keys.me) return undefined;
  const people = rumor.tags.filter(([name]) => name === "p").map(([, who]) => who);
  // In a conversation of more than two, the answer would reach only one of them.
  if (rumor.kind === MESSAGE && people.some((who) => who !== keys.me)) return undefined;
  const sender = keys.npub(rumor.pubkey);
  const base = {
    id: rumor.id,
    at: rumor.created_at * 1000,
    chat: { id: sender, kind: "direct" as const },
    sender: { id: sender },
  };
  if (rumor.kind === MESSAGE) return { ...base, kind: "message", text: rumor.content };
  const message = rumor.tags.findLast(([name]) => name === "e")?.[1];
  if (rumor.kind !== REACTION || !message) return undefined;
  return { ...base, kind: "reaction", message, emoji: rumor.content === "+" ? "👍" : rumor.content };
}
