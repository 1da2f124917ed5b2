/** What `lares teams` says. */
import type { Hint } from "../output.ts";
import { plural } from "./plural.ts";

export const teamWords = {
  some: (n: number) => `${plural(n, "team")}.`,
  none: (hint: Hint) => hint`No teams. Make one: lares teams new home --template household`,
  templates: (n: number, hint: Hint) =>
    hint`${plural(n, "ready-made team")}. Use one: lares teams new NAME --template ID`,
  made: (id: string, hint: Hint) => hint`Team ${id} is ready. Talk to it: lares teams say ${id} "hello"`,
  madeAgents: (names: readonly string[]) => `  new agents: ${names.join(", ")}`,
  folder: (id: string) => `  edit teams/${id}/team.yaml and TEAM.md in the home to change it`,
  lead: "lead",
  missing: "no such agent",
  speaking: "answers now",
  noPosts: (id: string, hint: Hint) => hint`Nothing was written in this room yet. Start: lares teams say ${id} "hello"`,
  posted: (seq: number, id: string, hint: Hint) => hint`Post ${seq}. Read the answers: lares teams read ${id}`,
  stopped: (n: number) => (n === 0 ? "Nobody owed an answer." : `Stopped. ${plural(n, "answer")} won't come.`),
  room: (chat: string) => `  room: ${chat}`,
  badMember: (text: string) => `"${text}" is no member: write the agent's name, or name:role.`,
};
