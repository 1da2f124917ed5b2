/**
 * Whose memory a session sees, depending on how and as whom people came in. Pure. The model sees of memory (in the prompt's
 * files, the snapshot, and search results) only what everyone who can read the session may know.
 *
 * | who is in the session                                       | what it sees                                           |
 * | ----------------------------------------------------------- | ------------------------------------------------------ |
 * | the owner: own token, or as owner in a direct chat          | shared, the agent's, its teams', public                |
 * | the same, linked by `identities` or named by the token      | that, and the person's own, the same on every channel  |
 * | one other person in a direct chat                           | the person's own, the same on every channel; public    |
 * | a group, even when the owner speaks | what was saved in this group; public                   |
 * | several people in one session (`routing.scope: main`)       | what was saved in this session; public                 |
 * | nobody but events                                           | as the route they come by                              |
 */
import { agentInSession, type CameBy, isNamedDoor, isOwnDoor, personKeys } from "../../core/domain/index.ts";
import type { MemoryConfig } from "./config.ts";
import type { Viewer } from "./kinds.ts";

/** A way somebody came into the session. */
type Door = CameBy & { isGroup: boolean };

export interface SessionViewer extends Viewer {
  agent: string;
  /** Several people can read it, so of past conversations only this one is used. */
  alone?: true;
}

export function viewerFrom(
  doors: readonly Door[],
  session: string,
  listTeams: (agent: string) => readonly string[],
): SessionViewer | undefined {
  const people = doors.filter((door) => door.speaker !== "event");
  const all = people.length > 0 ? people : doors;
  if (all.length === 0) return undefined;
  const agent = agentInSession(session) ?? "main";
  const group = all.find((door) => door.isGroup);
  if (group) return { agent, person: personKeys.group(group.channel, group.chat), alone: true };
  const isOwner = all.every(isOwnDoor);
  // The owner who looks in on somebody's conversation is not one more person there.
  const persons = new Set(all.filter((door) => !isOwnDoor(door) || isNamedDoor(door)).map(personAt));
  const [person] = persons;
  if (isOwner)
    return { agent, owner: true, teams: listTeams(agent), ...(persons.size === 1 ? { person: person! } : {}) };
  return persons.size === 1 ? { agent, person: person! } : { agent, person: personKeys.several(session), alone: true };
}

function personAt({ channel, chat, person }: Door): string {
  return person ?? personKeys.at(channel, chat);
}

/** The teams an agent shares facts with. */
export function teamsWith({ teams }: Pick<MemoryConfig, "teams">, agent: string): string[] {
  return Object.entries(teams).flatMap(([team, members]) => (members.includes(agent) ? [team] : []));
}
