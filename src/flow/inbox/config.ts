import { z } from "zod";
import type { DeepReadonly } from "../../core/kit/index.ts";

const scopes = z.enum(["main", "per-peer", "per-channel-peer", "per-chat"]);
const modes = z.enum(["steer", "followup", "collect", "interrupt"]);

const rule = z
  .strictObject({
    agent: z.string().describe("Who answers."),
    priority: z.number().default(0).describe("Higher first; equal priorities in file order."),
    person: z.string().optional().describe("A person's name from `identities`, or a platform id like telegram:123."),
    account: z.string().optional().describe("Account of a channel, e.g. the bot's name."),
    chat: z.string().optional().describe("Chat id on its platform."),
    channel: z.string().optional().describe("Channel name, e.g. webhook."),
    pattern: z.string().max(500).optional().describe("Text the message must contain; * matches anything."),
    prefix: z
      .string()
      .regex(/^\/[a-z][a-z0-9-]*$/, "a slash and a word, like /research")
      .optional()
      .describe("Prefix command: `/research …` goes to this agent without the word."),
    scope: scopes.optional().describe("Session scope for what matches."),
    mode: modes.optional().describe("Queue mode for what matches."),
  })
  .describe("One routing rule; all of its conditions must match.");

export const inboxConfig = z
  .strictObject({
    defaultAgent: z.string().default("main").describe("Who answers when no rule matches."),
    scope: scopes.default("per-channel-peer").describe("How messages become sessions."),
    mode: modes.default("steer").describe("What happens to a message that arrives during a turn."),
    rules: z.array(rule).default([]).describe("Routing rules; the first match by priority wins."),
    identities: z
      .record(z.string(), z.array(z.string()))
      .default({})
      .describe("One person's ids across channels, e.g. ana: [telegram:123, http:ana]."),
  })
  .describe("Which agent answers whom, in which session.");

export type InboxConfig = DeepReadonly<z.output<typeof inboxConfig>>;
export type RoutingRule = InboxConfig["rules"][number];
