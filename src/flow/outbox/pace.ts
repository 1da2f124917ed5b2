/** How fast a platform takes messages: the next moment one may leave, per chat and per account. Bounded: old chats are forgotten. */
import type { ReplyRoute } from "../../core/domain/index.ts";

const MOST_CHATS = 5000;

export interface PaceRule {
  chatMs: number;
  accountMs: number;
}

export class Pace {
  private readonly chats = new Map<string, number>();
  private readonly accounts = new Map<string, number>();
  private readonly leftAccount = new Map<string, number>();
  private readonly left = new Map<string, number>();

  /**
   * Takes the next place in line and says when it is. A chat that must wait takes none: it asks again when it is free, so that
   * it holds up no other chat of its account.
   */
  next(route: ReplyRoute, rule: PaceRule, now: number): { at: number; isMine: boolean } {
    const free = this.chats.get(chatOf(route)) ?? 0;
    if (free > now) return { at: free, isMine: false };
    const account = accountOf(route);
    const at = Math.max(now, this.accounts.get(account) ?? 0);
    if (rule.chatMs) keep(this.chats, chatOf(route), at + rule.chatMs);
    if (rule.accountMs) keep(this.accounts, account, at + rule.accountMs);
    return { at, isMine: true };
  }

  /** When one could leave; takes no place. */
  free(route: ReplyRoute): number {
    return Math.max(this.chats.get(chatOf(route)) ?? 0, this.accounts.get(accountOf(route)) ?? 0);
  }

  /** Whether its place still stands when it comes up: after a stall many would leave at once. Zero, or when to ask again. */
  hold(route: ReplyRoute, rule: PaceRule, now: number): number {
    const account = accountOf(route);
    const free = (this.leftAccount.get(account) ?? 0) + rule.accountMs;
    if (rule.accountMs && free > now) return free;
    // The pauses count from when it really leaves.
    if (rule.accountMs) keep(this.leftAccount, account, now);
    if (rule.chatMs) keep(this.chats, chatOf(route), now + rule.chatMs);
    return 0;
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
