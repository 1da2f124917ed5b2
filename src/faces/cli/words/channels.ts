/** Words for channels: where people talk to it, and who may. */
import type { Word } from "./word.ts";

const channels = () => import("../commands/channels.ts");
const people = () => import("../commands/people.ts");

export const channelWords: readonly Word[] = [
  {
    name: "channels add",
    takes: "[kind]",
    about: "connect one: asks for what it needs, tries it, keeps the secrets in the vault",
    flags: [
      { flag: "--name <name>", about: "the account's name (main)" },
      { flag: "--replace", about: "new values for an account that is there, such as a new token" },
      { flag: "--set <field=value>", about: "a field of the account; @FILE reads it, - is stdin", repeats: true },
    ],
    example: "lares channels add telegram --name work",
    exits: "1 the platform does not take the credentials",
    load: async () => (await channels()).add,
  },
  {
    name: "channels list",
    about: "the channels and how each is",
    example: "lares channels list",
    load: async () => (await channels()).list,
  },
  {
    name: "channels status",
    takes: "<name>",
    about: "one channel and its deliveries",
    example: "lares channels status webhook/main",
    exits: "1 it has failed",
    load: async () => (await channels()).status,
  },
  {
    name: "channels test",
    takes: "<name>",
    about: "ask the platform who we are there",
    flags: [{ flag: "--to <chat>", about: "and send a line to this chat" }],
    example: "lares channels test telegram/main --to 123456",
    load: async () => (await channels()).test,
  },
  {
    name: "channels remove",
    takes: "<name>",
    about: "take it out, with its secrets and the people it let in",
    example: "lares channels remove telegram/main",
    load: async () => (await channels()).remove,
  },
  {
    name: "channels pending",
    about: "strangers who wait to be let in",
    example: "lares channels pending",
    load: async () => (await people()).pending,
  },
  {
    name: "channels approve",
    takes: "<code>",
    about: "let a stranger in",
    flags: [{ flag: "--owner", about: "it is you: may answer approvals, too" }],
    example: "lares channels approve K7QW2MXA --owner",
    load: async () => (await people()).approve,
  },
  {
    name: "channels refuse",
    takes: "<code>",
    about: "forget a stranger who waits",
    example: "lares channels refuse K7QW2MXA",
    load: async () => (await people()).refuse,
  },
  {
    name: "channels people",
    about: "who was let in",
    example: "lares channels people",
    load: async () => (await people()).people,
  },
  {
    name: "channels revoke",
    takes: "<name> <id>",
    about: "take that back",
    flags: [{ flag: "--chat <group>", about: "in this group only" }],
    example: "lares channels revoke telegram/main 123456",
    load: async () => (await people()).revoke,
  },
];
