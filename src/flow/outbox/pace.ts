/** How fast a platform takes messages: the next moment one may leave, per chat and per account. Bounded: old chats are forgotten. */
import type { ReplyRoute } from "../../core/domain/index.ts";

const MOST_CHATS = 5000;

export class Pace {
  private readonly chats = new Map<string, number>();
  private readonly accounts = new Map<string, number>();
  private readonly left = new Map<string, number>();

  /** Takes the next place in line and says when it is. */
  next(route: ReplyRoute, pace: { chatMs: number; accountMs: number }, now: number): number {
    const account = accountOf(route);
    const chat = chatOf(route);
    const at = Math.max(now, this.chats.get(chat) ?? 0, this.accounts.get(account) ?? 0);
    if (pace.chatMs) keep(this.chats, chat, at + pace.chatMs);
    if (pace.accountMs) keep(this.accounts, account, at + pace.accountMs);
    return at;
  }

  sent(route: ReplyRoute, now: number): void {
    keep(this.left, chatOf(route), now);
  }

  sentAt(route: ReplyRoute): number | undefined {
    return this.left.get(chatOf(route));
  }
}

function keep(map: Map<string, number>, key: string, value: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MOST_CHATS) map.delete(map.keys().next().value as string);
}

function accountOf({ channel, account }: ReplyRoute): string {
  return JSON.stringify([channel, account]);
}

function chatOf({ channel, account, chat }: ReplyRoute): string {
  return JSON.stringify([channel, account, chat]);
}
