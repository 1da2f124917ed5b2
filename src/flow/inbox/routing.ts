/**
 * Who answers a message, in which session. Pure: the same message and rules give the same place.
 *
 * INBOX-1: rules by priority, then in order; the first whose every condition holds wins; else the default agent.
 * INBOX-2: parts of a session key are escaped, so no chat id can pose as another session.
 */
import {
  type AgentId,
  asId,
  assertNever,
  type InboundMessage,
  type PersonId,
  personKeys,
  type QueueMode,
  type SessionKey,
  sessionKeys,
} from "../../core/domain/index.ts";
import type { InboxConfig, RoutingRule } from "./config.ts";

export interface Placement {
  agent: AgentId;
  session: SessionKey;
  person: PersonId;
  mode: QueueMode;
  /** The text without a routing prefix. */
  text: string;
}

export function place(config: InboxConfig, message: InboundMessage): Placement {
  const person = findPerson(config, message);
  const rule = message.agent ? undefined : firstMatch(config.rules, message, person);
  const agent = message.agent ?? asId<AgentId>(rule?.agent ?? config.defaultAgent);
  const scope = rule?.scope ?? config.scope;
  return {
    agent,
    person,
    session: message.session ?? sessionFor(scope, agent, message, person),
    mode: message.mode ?? rule?.mode ?? config.mode,
    text: rule?.prefix ? message.text.slice(rule.prefix.length).trim() || message.text : message.text,
  };
}

/** One person over several accounts, by `identities`; else the platform's own id. */
function findPerson(config: InboxConfig, message: InboundMessage): PersonId {
  const own = personKeys.at(message.route.channel, message.sender.id);
  for (const [name, ids] of Object.entries(config.identities)) if (ids.includes(own)) return asId(name);
  return own;
}

function firstMatch(rules: readonly RoutingRule[], message: InboundMessage, person: PersonId): RoutingRule | undefined {
  // The sort is stable: equal priorities keep the order of the file.
  return [...rules].sort((a, b) => b.priority - a.priority).find((rule) => matches(rule, message, person));
}

function matches(rule: RoutingRule, message: InboundMessage, person: PersonId): boolean {
  const { route } = message;
  return (
    (rule.person === undefined ||
      rule.person === person ||
      rule.person === personKeys.at(route.channel, message.sender.id)) &&
    (rule.account === undefined || rule.account === route.account) &&
    (rule.chat === undefined || rule.chat === route.chat) &&
    (rule.channel === undefined || rule.channel === route.channel) &&
    (rule.pattern === undefined || wildcard(rule.pattern, message.text)) &&
    (rule.prefix === undefined || hasPrefix(rule.prefix, message.text))
  );
}

function hasPrefix(prefix: string, text: string): boolean {
  return text === prefix || (text.startsWith(prefix) && /\s/.test(text[prefix.length]!));
}

/** Contains the pieces between the stars, in order. Linear: no pattern of a person can hang it (DO-03). */
function wildcard(pattern: string, text: string): boolean {
  const hay = text.toLowerCase();
  let from = 0;
  for (const piece of pattern.toLowerCase().split("*")) {
    const at = hay.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return true;
}

function sessionFor(
  scope: InboxConfig["scope"],
  agent: AgentId,
  message: InboundMessage,
  person: PersonId,
): SessionKey {
  const { channel, account, chat, thread } = message.route;
  const key = (...parts: (string | undefined)[]) =>
    sessionKeys.at(agent, ...parts.filter((part) => part !== undefined));
  switch (scope) {
    case "main":
      return key("main");
    case "per-peer":
      return key("peer", person);
    case "per-channel-peer":
      // In a direct chat the chat is the peer; in a group each person has their own conversation.
      return key(channel, account, chat, thread, chat === message.sender.id ? undefined : message.sender.id);
    case "per-chat":
      return key(channel, account, chat, thread);
    default:
      return assertNever(scope);
  }
}
