/** Commands about teams. */
import { type CommandEntry, whole } from "./entry.ts";

const teams = () => import("../../commands/agent-teams.ts");

export const teamCommands: readonly CommandEntry[] = [
  {
    name: "teams list",
    about: "list teams and who is in them",
    example: "lares teams list",
    exits: "1 a team's folder can't be used",
    load: async () => (await teams()).list,
  },
  {
    name: "teams show",
    takes: "<id>",
    about: "show one team: its members, its room and how they work together",
    example: "lares teams show household",
    load: async () => (await teams()).show,
  },
  {
    name: "teams templates",
    about: "list ready-made teams",
    example: "lares teams templates",
    load: async () => (await teams()).templates,
  },
  {
    name: "teams new",
    takes: "<id>",
    about: "make a team, and the agents it names that don't exist yet",
    flags: [
      { flag: "--template <t>", about: "a ready-made one" },
      { flag: "--members <list>", about: "who is in it, the lead first: name or name:role, with commas between" },
      { flag: "--title <text>", about: "what people call it" },
    ],
    example: "lares teams new home --template household",
    load: async () => (await teams()).add,
  },
  {
    name: "teams say",
    takes: "<id> <text>",
    about: "write in a team's room; @name asks that member, else the lead answers",
    example: 'lares teams say household "@cook what is for dinner?"',
    load: async () => (await teams()).say,
  },
  {
    name: "teams read",
    takes: "<id>",
    about: "read a team's room, the newest last",
    flags: [
      { flag: "--after <n>", about: "only posts after this number", parse: whole(0, 1_000_000_000) },
      { flag: "--limit <n>", about: "show at most this many", parse: whole(1, 200) },
    ],
    example: "lares teams read household",
    load: async () => (await teams()).read,
  },
  {
    name: "teams stop",
    takes: "<id>",
    about: "end the exchange in a team's room",
    example: "lares teams stop household",
    load: async () => (await teams()).stop,
  },
];
