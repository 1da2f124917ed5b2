/** Facts that took others' place, and what goes when a topic is forgotten. */
import type { AddOutcome, Remembered } from "./kinds.ts";
import type { Memory } from "./memory.ts";
import type { replacing } from "./replacing.ts";
import type { SessionIndex } from "./sessions/sessions.ts";
import type { SessionViewer } from "./viewers.ts";

/** Memory as its callers reach it. */
export interface MemoryAccess {
  memory: Memory;
  messages: SessionIndex;
  /** Whose memory a session sees; undefined for sessions nobody has spoken in. */
  viewer(session: string): Promise<SessionViewer | undefined>;
  /** Prompts, snapshots and runs of the nightly pass that hold one of these are made again without it. */
  forgetTexts(texts: readonly string[]): Promise<void>;
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
export async function findAbout(rooms: MemoryAccess, about: string, who?: SessionViewer, session?: string) {
  const facts = await rooms.memory.naming(about, who ?? {});
  // A stranger's session, and one of several people, reaches its own talk only.
  const ears = who?.alone && session !== undefined ? { agent: who.agent, sessions: [session] } : (who ?? {});
  return { facts: facts.map(({ id, text }) => ({ id, text })), said: await rooms.messages.naming(about, ears) };
}

export async function forgetAbout(rooms: MemoryAccess, about: string, who?: SessionViewer, session?: string) {
  const going = await findAbout(rooms, about, who, session);
  await rooms.messages.forget(going.said.map(({ number }) => number));
  for (const { id } of going.facts) await rooms.memory.forget(id, who ?? {});
  // As it is written in the middle of a sentence, and at its beginning.
  const small = about.toLowerCase();
  await rooms.forgetTexts([...new Set([about, small, small.charAt(0).toUpperCase() + small.slice(1)])]);
  return going;
}

/** Nobody can tell who wrote an export: what it says waits for a person. What was superseded there stays history. */
export function untrusted(fact: Remembered): Remembered {
  const state = fact.state === "superseded" ? "superseded" : "pending";
  return { ...fact, trust: "outside", state, why: "It came from an imported file." };
}
