/** Commands for channels: where people talk to it, and who may. */
import type { CommandEntry } from "./entry.ts";

const channels = () => import("../../commands/channels.ts");
const people = () => import("../../commands/people.ts");

export const channelCommands: readonly CommandEntry[] = [
  {
    name: "channels add",
    takes: "[kind]",
    about: "connect a channel: asks for what it needs, tests it, stores secrets in the vault",
    flags: [
      { flag: "--name <name>", about: "the account's name (main)" },
      { flag: "--replace", about: "update an existing account, for example with a new token" },
      { flag: "--set <field=value>", about: "a field of the account; @FILE reads it, - is stdin", repeats: true },
    ],
    example: "lares channels add telegram --name work",
    exits: "1 the platform rejects the credentials",
    load: async () => (await channels()).add,
  },
  {
    name: "channels list",
    about: "list channels and their state",
    example: "lares channels list",
    load: async () => (await channels()).list,
  },
  {
    name: "channels status",
    takes: "<name>",
    about: "show one channel and its deliveries",
    example: "lares channels status webhook/main",
    exits: "1 it has failed",
    load: async () => (await channels()).status,
  },
  {
    name: "channels test",
    takes: "<name>",
    about: "check the credentials with the platform",
    flags: [{ flag: "--to <chat>", about: "also send a test message to this chat" }],
    example: "lares channels test telegram/main --to 123456",
    load: async () => (await channels()).test,
  },
  {
    name: "channels remove",
    takes: "<name>",
    about: "remove a channel with its secrets and accepted people; asks first",
    example: "lares channels remove telegram/main --yes",
    exits: "7 you answered no",
    load: async () => (await channels()).remove,
  },
  {
    name: "channels pending",
    about: "list people waiting to be accepted",
    example: "lares channels pending",
    load: async () => (await people()).pending,
  },
  {
    name: "channels approve",
    takes: "<code>",
    about: "accept someone who is waiting",
    flags: [{ flag: "--owner", about: "this is you: can also answer approvals" }],
    example: "lares channels approve K7QW2MXA --owner",
    load: async () => (await people()).approve,
  },
  {
    name: "channels refuse",
    takes: "<code>",
    about: "decline someone who is waiting",
    example: "lares channels refuse K7QW2MXA",
    load: async () => (await people()).refuse,
  },
  {
    name: "channels people",
    about: "list accepted people",
    example: "lares channels people",
    load: async () => (await people()).people,
  },
  {
    name: "channels revoke",
    takes: "<name> <id>",
    about: "remove someone's access",
    flags: [{ flag: "--chat <group>", about: "only in this group" }],
    example: "lares channels revoke telegram/main 123456",
    load: async () => (await people()).revoke,
  },
];
