/** Words for talking, and for what is known from it. */
import { days, type Group, limit } from "./word.ts";

const sessions = () => import("../commands/sessions.ts");
const files = () => import("../commands/session-files.ts");
const memory = () => import("../commands/memory.ts");
const agents = () => import("../commands/agents.ts");
const scope = { flag: "--scope <s>", about: "whose memory, when not the default agent's" };

export const talk: Group = {
  name: "Talk",
  nouns: {
    sessions: "conversations",
    agents: "who can be talked to",
    memory: "what it knows, and where that came from",
  },
  words: [
    {
      name: "chat",
      about: "talk to an agent",
      flags: [
        { flag: "-m, --message <text>", about: "one message, then leave; - reads it from stdin" },
        { flag: "--session <s>", about: "an existing conversation" },
        { flag: "--user <u>", about: "speak as this user" },
        { flag: "--agent <a>", about: "the agent to talk to" },
        { flag: "--idempotency-key <k>", about: "the same key gets the same turn's answer (with -m)" },
      ],
      example: 'lares chat -m "What is on today?"',
      exits: "6 the turn waits for a person, 7 it declined, 130 it was stopped (with -m)",
      load: async () => (await import("../chat/command.ts")).chat,
    },
    {
      name: "sessions list",
      about: "conversations, the newest last",
      flags: [
        limit(500),
        { flag: "--search <text>", about: "only those with this in key or title" },
        { flag: "--agent <a>", about: "only this agent's" },
      ],
      example: "lares sessions list --search lisbon",
      load: async () => (await sessions()).list,
    },
    {
      name: "sessions get",
      takes: "<session>",
      about: "one conversation and its newest messages",
      flags: [limit(1000, "so many messages (10)")],
      example: "lares sessions get agent:main:main",
      load: async () => (await sessions()).get,
    },
    {
      name: "context",
      takes: "<session>",
      about: "what the model reads of a conversation, and what each part costs",
      flags: [
        { flag: "--notes", about: "and what is remembered and carried over, in words" },
        { flag: "--compact", about: "condense the older part now; the messages stay" },
        { flag: "--focus <text>", about: "what to keep above all (with --compact)" },
        { flag: "--undo", about: "take the last condensing back" },
      ],
      example: "lares context agent:main:main",
      load: async () => (await import("../commands/context.ts")).context,
    },
    {
      name: "sessions reset",
      takes: "<session>",
      about: "start it afresh; what was said stays readable",
      example: "lares sessions reset agent:main:main",
      load: async () => (await sessions()).reset,
    },
    {
      name: "sessions delete",
      takes: "<session>",
      about: "delete it with all its messages; asks first",
      example: "lares sessions delete agent:main:main --yes",
      exits: "7 the question was answered with no",
      load: async () => (await sessions()).remove,
    },
    {
      name: "sessions export",
      takes: "<session>",
      about: "its messages as JSON Lines",
      flags: [{ flag: "-o, --output <file>", about: "into this file" }],
      example: "lares sessions export agent:main:main -o talk.jsonl",
      load: async () => (await files()).exportSession,
    },
    {
      name: "sessions import",
      takes: "<file>",
      about: "take in an exported conversation; - reads stdin",
      flags: [
        { flag: "--session <s>", about: "under this key" },
        { flag: "--agent <a>", about: "for this agent" },
      ],
      example: "lares sessions import talk.jsonl",
      load: async () => (await files()).importSession,
    },
    {
      name: "sessions prune",
      about: "delete what nobody used for long; asks first",
      flags: [
        { flag: "--older-than <days>", about: "not used for so many days", parse: days, needed: true },
        { flag: "--dry-run", about: "only show what would go" },
      ],
      example: "lares sessions prune --older-than 90 --dry-run",
      exits: "7 the question was answered with no",
      load: async () => (await sessions()).prune,
    },
    {
      name: "agents list",
      about: "the agents of this home",
      example: "lares agents list",
      load: async () => (await agents()).list,
    },
    {
      name: "agents get",
      takes: "<agent>",
      about: "one agent: model, policy, files",
      example: "lares agents get main",
      load: async () => (await agents()).get,
    },
    {
      name: "agents create",
      takes: "<agent>",
      about: "make an agent with good defaults",
      flags: [{ flag: "--soul <file>", about: "who it is: the text of its SOUL.md; - reads stdin" }],
      example: "lares agents create cook --soul cook.md",
      load: async () => (await agents()).create,
    },
    {
      name: "memory search",
      takes: "<query>",
      about: "what it knows about something",
      flags: [limit(100), scope],
      example: 'lares memory search "favourite tea"',
      load: async () => (await memory()).search,
    },
    {
      name: "memory list",
      about: "what it knows, the newest last",
      flags: [limit(1000)],
      example: "lares memory list --limit 20",
      load: async () => (await memory()).list,
    },
    {
      name: "memory add",
      takes: "<text>",
      about: "tell it something to keep; - reads stdin",
      flags: [{ flag: "--source <s>", about: "where that comes from" }, scope],
      example: 'lares memory add "Ana prefers green tea"',
      load: async () => (await memory()).add,
    },
    {
      name: "memory forget",
      takes: "<id>",
      about: "forget one fact; asks first",
      example: "lares memory forget 3f9a2c",
      exits: "7 the question was answered with no",
      load: async () => (await memory()).forget,
    },
  ],
};
