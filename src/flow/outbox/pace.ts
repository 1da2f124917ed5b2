/** How fast a platform takes messages: the next moment one may leave, per chat and per account. Bounded: old chats are forgotten. */
import type { ReplyRoute } from "../../core/domain/index.ts";

const MOST_CHATS = 5000;

export interface PaceRule {
  chatMs: number;
  accountMs: number;
  /** Most messages and edits a minute in this chat, where the platform counts them. */
  perMinute?: (chat: string) => number | undefined;
}

const MINUTE_MS = 60_000;
/** Less is how a clock is kept right; a pause that is a second longer hurts nobody. */
const SET_BACK_MS = 1000;
/** A chat's edits leave this share of its minute to messages that matter more. */
const SHARE_OF_EDITS = 0.7;

/** How long to wait between two edits in a chat: the platform's own pause, and longer where it counts them by the minute. */
export function editPause(rule: PaceRule, chat: string, editMs: number): number {
  const most = rule.perMinute?.(chat);
  return most === undefined ? editMs : Math.max(editMs, Math.ceil(MINUTE_MS / (most * SHARE_OF_EDITS)));
}

export class Pace {
  private readonly chats = new Map<string, number>();
  private readonly accounts = new Map<string, number>();
  private readonly leftAccount = new Map<string, number>();
  private readonly left = new Map<string, number>();
  /** When the last ones left, in chats where the platform counts by the minute. */
  private readonly minutes = new Map<string, number[]>();
  private latest = 0;

  /**
   * Takes the next place in line and says when it is. A chat that must wait takes none: it asks again when it is free, so that
   * it holds up no other chat of its account.
   */
  next(route: ReplyRoute, rule: PaceRule, now: number): { at: number; isMine: boolean } {
    this.heed(now);
    const free = this.free(route, rule, false);
    if (free > now) return { at: free, isMine: false };
    const account = accountKey(route);
    const at = Math.max(now, this.accounts.get(account) ?? 0);
    this.count(route, rule, at);
    if (rule.chatMs) keep(this.chats, chatKey(route), at + rule.chatMs);
    if (rule.accountMs) keep(this.accounts, account, at + rule.accountMs);
    return { at, isMine: true };
  }

  /** When one could leave; takes no place. */
  free(route: ReplyRoute, rule: PaceRule, withAccount = true): number {
    const most = rule.perMinute?.(route.chat);
    const left = most === undefined ? [] : (this.minutes.get(chatKey(route)) ?? []);
    return Math.max(
      this.chats.get(chatKey(route)) ?? 0,
      withAccount ? (this.accounts.get(accountKey(route)) ?? 0) : 0,
      most !== undefined && left.length >= most ? left[left.length - most]! + MINUTE_MS : 0,
    );
  }

  private count(route: ReplyRoute, rule: PaceRule, at: number): void {
    const most = rule.perMinute?.(route.chat);
    if (most === undefined) return;
    const left = this.minutes.get(chatKey(route)) ?? [];
    keep(this.minutes, chatKey(route), [...left, at].slice(-most));
  }

  /** Whether its place still stands when it comes up: after a stall many would leave at once. Zero, or when to ask again. */
  hold(route: ReplyRoute, rule: PaceRule, now: number): number {
    this.heed(now);
    const account = accountKey(route);
    const free = (this.leftAccount.get(account) ?? 0) + rule.accountMs;
    if (rule.accountMs && free > now) return free;
    // The pauses count from when it really leaves.
    const minute = this.minutes.get(chatKey(route));
    if (minute?.length) minute[minute.length - 1] = now;
    if (rule.accountMs) keep(this.leftAccount, account, now);
    if (rule.chatMs) keep(this.chats, chatKey(route), now + rule.chatMs);
    return 0;
  }

  /** When the machine's clock was set back, the pauses noted before lie in a future that may be a day away: they are dropped. */
  private heed(now: number): void {
    if (now < this.latest - SET_BACK_MS)
      for (const noted of [this.chats, this.accounts, this.leftAccount, this.minutes]) noted.clear();
    this.latest = now;
  }

  sent(route: ReplyRoute, now: number): void {
    keep(this.left, chatKey(route), now);
  }

  sentAt(route: ReplyRoute): number | undefined {
    return this.left.get(chatKey(route));
  }
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MOST_CHATS) map.delete(map.keys().next().value as string);
}

function accountKey({ channel, account }: ReplyRoute): string {
  return JSON.stringify([channel, account]);
}

function chatKey({ channel, account, chat }: ReplyRoute): string {
  return JSON.stringify([channel, account, chat]);
}
