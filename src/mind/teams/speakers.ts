/**
 * Who speaks next in a team's room. Pure: the same posts and members give the same speaker.
 *
 * TEAMS-1: a post is owed an answer by the members it addresses with @; a person's post that addresses nobody, by the lead. What a
 *     member says without addressing anyone is owed nothing, so an exchange comes to its end by itself.
 * TEAMS-2: one member speaks at a time, in the order in which they were addressed.
 * TEAMS-3: an exchange begins with a person's post and ends when nothing is owed, or at its limit of answers or dollars; then what is
 *     still owed is dropped, and the room says so.
 */
import { findMember, type Team } from "./definition.ts";

export type PostKind = "person" | "member" | "lares";

/** A member that was addressed and has not spoken since. */
export interface Debt {
  /** The post it answers. */
  seq: number;
  member: string;
  /** The turn that answers it; null until one was started. */
  turn: string | null;
}

/** What an exchange has used since a person last wrote. */
export interface ExchangeUse {
  turns: number;
  dollars: number;
}

export type NextSpeaker =
  /** Somebody speaks, or nobody owes anything. */
  { do: "wait" } | { do: "ask"; debt: Debt } | { do: "end"; because: "turns" | "dollars" };

/** Members that a post addresses, each once, in the order of its text. `@all` is everybody. */
export function findAddressed(team: Pick<Team, "members">, text: string): string[] {
  const found = new Set<string>();
  // A mention stands at the beginning or after a blank or an opening bracket, so that addresses of mail are none.
  for (const [, name] of text.matchAll(/(?:^|[\s([{,;:>*_"'])@([a-z0-9][a-z0-9-]{0,63})/gi)) {
    if (name!.toLowerCase() === "all") for (const { agent } of team.members) found.add(agent);
    const member = findMember(team, name!);
    if (member) found.add(member.agent);
  }
  return [...found];
}

/** Who owes this post an answer (TEAMS-1). */
export function listOwing(
  team: Pick<Team, "members" | "lead">,
  post: { kind: PostKind; author: string; text: string },
): string[] {
  if (post.kind === "lares") return [];
  const addressed = findAddressed(team, post.text).filter((one) => post.kind !== "member" || one !== post.author);
  return addressed.length === 0 && post.kind === "person" ? [team.lead] : addressed;
}

/** `debts`: in the order in which they came about. */
export function chooseSpeaker(
  debts: readonly Debt[],
  exchange: ExchangeUse,
  limits: { turns: number; dollars?: number | undefined },
): NextSpeaker {
  const [first] = debts;
  if (!first || debts.some(({ turn }) => turn !== null)) return { do: "wait" };
  if (exchange.turns >= limits.turns) return { do: "end", because: "turns" };
  if (limits.dollars !== undefined && exchange.dollars >= limits.dollars) return { do: "end", because: "dollars" };
  return { do: "ask", debt: first };
}
