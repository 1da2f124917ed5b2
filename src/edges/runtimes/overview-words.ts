/** What people read about what a runtime can do. Each takes what the runtime claims; nothing where it can't. */
import type { RuntimeSkill } from "../../core/contracts/index.ts";

export const skillWords: Record<RuntimeSkill, (value: unknown) => string> = {
  stream: (value) => (value === "block" ? "Shows its answer in blocks" : "Shows its answer word by word"),
  thinking: () => "Shows what it thinks",
  approvals: (value) =>
    covers(value) === "some" ? "Asks before actions that it finds dangerous" : "Asks before every action",
  questions: () => "Asks you questions",
  steer: (value) =>
    value === "next-turn" ? "Reads what you add after its current turn" : "Reads what you add at once",
  interrupt: () => "Stops when you say so",
  resume: () => "Continues its conversation after a restart",
  home: () => "Keeps a home for each agent",
  mcp: () => "Takes tools over MCP",
  proxy: () => "Calls its models through Lares, without a key",
  usage: () => "Reports what it uses",
  rateLimits: () => "Says when it waits because of a rate limit",
  children: (value) => (value === "hidden" ? "Starts agents that Lares doesn't see" : "Starts more agents"),
  boundary: () => "Works in a sandbox",
  ownScheduler: () => "Wakes itself",
  ownChannels: () => "Can be talked to without Lares",
};

function covers(value: unknown): unknown {
  return typeof value === "object" && value !== null && "covers" in value ? value.covers : undefined;
}

export const overviewWords = {
  noLogin: (title: string) =>
    `${title} needs no login: its model calls go through Lares, with the keys that Lares has.`,
  ownLogin: (title: string, name: string) =>
    `${title} calls its models itself. If it wants a login, describe it as runtimes.${name}.login in lares.yaml, or give it a key in runtimes.${name}.env.`,
  ownKeys: (title: string) => `${title} calls its models itself, with its own keys. Lares needs nothing for that.`,
  loginWith: (title: string) => `${title} calls its models itself. Log in with its own command:`,
  notReady: "It isn't ready.",
};
