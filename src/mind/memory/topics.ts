/** Facts that took others' place, and what goes when a topic is forgotten. */
import type { AddOutcome, Remembered } from "./kinds.ts";
import type { Memory } from "./memory.ts";
import type { replacing } from "./replacing.ts";
import { type Mention, mentionsText, mentionsTopic } from "./sessions/mentions.ts";
import type { NamedText, SessionIndex } from "./sessions/sessions.ts";
import type { SessionViewer } from "./viewers.ts";

/** Memory as its callers reach it. */
export interface MemoryAccess {
  memory: Memory;
  messages: SessionIndex;
  /** Whose memory a session sees; undefined for sessions nobody has spoken in. */
  viewer(session: string): Promise<SessionViewer | undefined>;
  /** Prompts, snapshots and runs of the nightly pass that hold one of these are made again without it. */
  forgetTexts(texts: readonly string[]): Promise<void>;
  /** Models no longer read this in any of these conversations, and no waiting question of memory's shows it. */
  hide(of: ForgottenTalk): Promise<void>;
}

export interface ForgottenTalk {
  /** Numbers of messages by conversation. */
  messages: ReadonlyMap<string, readonly number[]>;
  sessions: ReadonlySet<string>;
  mentions: (text: string) => boolean;
  /** The turn that was asked to forget. */
  by?: string | undefined;
}

/** Who has something forgotten: nobody is the owner at the controls. */
interface Asker {
  who?: SessionViewer;
  session?: string;
  turn?: string;
}

/** The facts that a new one took the place of: nothing is replaced without being named. */
export async function findReplaced(rooms: MemoryAccess, added: AddOutcome): Promise<Remembered[]> {
  const ids = (added.state === "live" && added.superseded) || [];
  const old = await Promise.all(ids.map((id) => rooms.memory.get(id)));
  return old.filter((fact) => fact !== undefined);
}

/** Why a fact that was to be replaced still holds. Read back, so that a repeated call says the same. */
export async function kept(
  rooms: MemoryAccess,
  old: string,
  by: string,
  instead: ReturnType<typeof replacing> | undefined,
): Promise<{ notReplaced?: string }> {
  if ((await rooms.memory.seen(old, {}))?.supersededBy === by || old === by) return {};
  if (instead && "why" in instead) return { notReplaced: instead.why };
  return { notReplaced: "what you saved was already known; memory_forget removes the old one" };
}

/** What goes when a topic is forgotten: the facts that name it, and the messages that do, within the viewer's sight. */
export async function findAbout(rooms: MemoryAccess, about: string, by: Asker = {}) {
  const facts = await rooms.memory.naming(about, by.who ?? {});
  return { facts: facts.map(({ id, text }) => ({ id, text })), said: await rooms.messages.naming(about, hears(by)) };
}

export async function forgetAbout(rooms: MemoryAccess, about: string, by: Asker = {}) {
  const going = await findAbout(rooms, about, by);
  const { who } = by;
  // First, while the index still knows them: after a crash the same call finds all of it again.
  await hideMentions(rooms, mentionsTopic(about), by, going.said);
  await rooms.messages.forget(going.said.map(({ number }) => number));
  for (const { id } of going.facts) await rooms.memory.forget(id, who ?? {});
  // As it is written in the middle of a sentence, and at its beginning.
  const small = about.toLowerCase();
  await rooms.forgetTexts([...new Set([about, small, small.charAt(0).toUpperCase() + small.slice(1)])]);
  return going;
}

/** One fact, and what quotes it verbatim: the call that saved it, results of searches that found it, who said it. */
export async function forgetFact(rooms: MemoryAccess, id: string, by: Asker = {}): Promise<boolean> {
  const fact = await rooms.memory.seen(id, by.who ?? {});
  const gone = await rooms.memory.forget(id, by.who ?? {});
  if (fact && fact.kind !== "document" && gone.length > 0) await hideMentions(rooms, mentionsText(fact.text), by);
  return gone.length > 0;
}

/** Models no longer read what mentions it, within the asker's sight. */
export async function hideMentions(rooms: MemoryAccess, mention: Mention, by: Asker, said: readonly NamedText[] = []) {
  const { sessions, messages } = await rooms.messages.mentioning(mention, hears(by));
  for (const { session, seq } of said) messages.set(session, [...(messages.get(session) ?? []), seq]);
  await rooms.hide({ messages, sessions, mentions: mention.mentions, by: by.turn });
}

/** A stranger's session, and one of several people, reaches its own talk only. */
function hears({ who, session }: Asker) {
  return who?.alone && session !== undefined ? { agent: who.agent, sessions: [session] } : (who ?? {});
}

/** Nobody can tell who wrote an export: what it says waits for a person. What was superseded there stays history. */
export function untrusted(fact: Remembered): Remembered {
  const state = fact.state === "superseded" ? "superseded" : "pending";
  return { ...fact, trust: "outside", state, why: "It came from an imported file." };
}
