/**
 * How much is accepted from outside: per account, per person, per agent, in messages per hour and tokens per day. Pure; the
 * counts are rows written with each admission, so a restart forgets nothing.
 */

import type { MessageLimits } from "../../core/contracts/index.ts";
import { type AccountKey, countScopes, scopeKeys } from "../../core/domain/index.ts";

export const HOUR_MS = 3_600_000;

export interface Count {
  /** Whose limit this is, in words for the notice. */
  what: string;
  /** Where it is counted. */
  scope: string;
  most: number;
  unit: "messages" | "tokens";
  /** The window in hours; default 1. */
  hours?: number;
}

/**
 * Defaults for everyone but the owner. Other bots get far less: two bots that answer each other never stop, and nobody reads it.
 */
const PERSON_AN_HOUR = 120;
const CHAT_AN_HOUR = 600;
const BOT_AN_HOUR = 30;
const BOT_A_DAY = 120;

export interface Sender {
  isOwner: boolean;
  isBot: boolean;
  /** The chat it writes in. */
  chat: string;
}

/** Everything that is counted for one message. */
export function countsFor(
  limits: { account: MessageLimits; agent: MessageLimits },
  at: { account: AccountKey; agent: string; person: string },
  sender?: Sender,
): Count[] {
  const out: Count[] = sender && !sender.isOwner ? defaults(limits.account, at, sender) : [];
  for (const [name, own] of [
    [scopeKeys.account(at.account), limits.account],
    [scopeKeys.agent(at.agent), limits.agent],
  ] as const) {
    if (own.maxMessagesPerHour) out.push(count(name, "everybody here", own.maxMessagesPerHour));
    if (own.maxMessagesPerUser) out.push(count(countScopes.within(name, at.person), "you", own.maxMessagesPerUser));
    if (own.maxTokensPerDay)
      out.push({ what: "everybody here", scope: name, most: own.maxTokensPerDay, unit: "tokens" });
  }
  return out;
}

function defaults(own: MessageLimits, at: { account: AccountKey; person: string }, { isBot, chat }: Sender): Count[] {
  const who = countScopes.person(at.account, at.person);
  if (isBot) return [count(who, "another bot", BOT_AN_HOUR), { ...count(who, "another bot", BOT_A_DAY), hours: 24 }];
  return [
    ...(own.maxMessagesPerUser ? [] : [count(who, "one person", PERSON_AN_HOUR)]),
    ...(own.maxMessagesPerHour ? [] : [count(countScopes.chat(at.account, chat), "one chat", CHAT_AN_HOUR)]),
  ];
}

function count(scope: string, what: string, most: number): Count {
  return { scope, what, most, unit: "messages" };
}

/**
 * Two bots that answer each other: strictly in turns, each time within a second or two of our answer, many times in a row. A
 * person needs longer to read, and one in a hurry writes twice before the answer comes. Kept in memory: a restart only gives
 * the loop a few more rounds.
 */
export class LoopWatch {
  private readonly chats = new Map<string, { rounds: number; at: number; told: boolean }>();
  private static readonly QUICK_MS = 2000;
  static readonly MOST_ROUNDS = 10;
  private static readonly CALM_MS = 60_000;
  private static readonly MOST_CHATS = 2000;

  /** `answeredAt`: when our last message in this chat left. */
  judge(chat: string, now: number, answeredAt: number | undefined): "fine" | "stop" | "stopped" {
    const known = this.chats.get(chat);
    const inTurn = answeredAt !== undefined && answeredAt >= (known?.at ?? 0);
    const quick = inTurn && now - answeredAt < LoopWatch.QUICK_MS;
    if (known?.told && now - known.at < LoopWatch.CALM_MS) {
      known.at = now;
      return "stopped";
    }
    const rounds = quick ? (known?.rounds ?? 0) + 1 : 0;
    const told = rounds > LoopWatch.MOST_ROUNDS;
    this.chats.delete(chat);
    if (rounds || answeredAt !== undefined) this.chats.set(chat, { rounds, at: now, told });
    if (this.chats.size > LoopWatch.MOST_CHATS) this.chats.delete(this.chats.keys().next().value as string);
    return told ? "stop" : "fine";
  }
}
