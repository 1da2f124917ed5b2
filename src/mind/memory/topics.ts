/** Facts that took others' place, and what goes when a topic is forgotten. */
import { type Crash, defined } from "../../core/kit/index.ts";
import type { MemoryBackends } from "./backends/backends.ts";
import type { AddOutcome, Remembered } from "./kinds.ts";
import type { Memory } from "./memory.ts";
import { moment } from "./moment.ts";
import { listParts, quoteTopic, wholeChecker, withoutQuotes } from "./naming/several.ts";
import { longerNames, readTopic, Spelling, settleTopic, type Topic } from "./naming/topic.ts";
import type { replacing } from "./replacing.ts";
import { type Mention, mentionsText } from "./sessions/mentions.ts";
import type { SessionIndex } from "./sessions/sessions.ts";
import type { SessionViewer } from "./viewers.ts";

/** Memory as its callers reach it. */
export interface MemoryAccess {
  memory: Memory;
  messages: SessionIndex;
  backends: Pick<MemoryBackends, "search">;
  /** Whose memory a session sees; undefined for sessions nobody has spoken in. */
  viewer(session: string): Promise<SessionViewer | undefined>;
  /** Prompts, snapshots and runs of the nightly pass that hold one of these are made again without it. */
  forgetTexts(texts: readonly string[]): Promise<void>;
  /** Models no longer read this in any of these conversations, and no waiting question of memory's shows it. */
  hide(of: ForgottenTalk): Promise<void>;
  crash?: Crash;
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

/**
 * A fact from somebody at the controls. They speak for the owner, so it needs no confirmation; what another program brings is text from
 * outside.
 */
export async function addFact(
  rooms: MemoryAccess,
  { at, ...given }: Omit<Parameters<Memory["add"]>[0], "trust" | "at"> & { at?: string | number | undefined },
  isOutside: boolean,
): Promise<Pick<AddOutcome, "id" | "state"> & { replaced: Pick<Remembered, "id" | "text">[] }> {
  const held = at === undefined ? undefined : moment(at);
  const added = await rooms.memory.add({ ...given, trust: isOutside ? "outside" : "owner", ...defined({ at: held }) });
  const replaced = await findReplaced(rooms, added);
  return { id: added.id, state: added.state, replaced: replaced.map(({ id, text }) => ({ id, text })) };
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

/** Topics or people, and what stays although it mentions one of them: other topics or people, or ids of facts. */
export interface Forgetting {
  about: string | readonly string[];
  except?: readonly string[] | undefined;
}

export interface Going {
  /** What was found for each topic. A text that mentions two counts for both. */
  topics: TopicFound[];
  facts: { id: string; text: string }[];
  /** Messages that say it, newest last. */
  said: { text: string; session: string }[];
  /** Longer names it is part of, most frequent first: everybody of a family. */
  names: string[];
  /** Names written much like it, which are left alone. */
  similar: string[];
}

export interface TopicFound {
  about: string;
  /** As a later call has to give it to mean the same, regardless of what is stored by then. */
  again: string;
  facts: number;
  said: number;
  /** Topics that this one may list, taken as one because it is written so elsewhere: "Bob" and "Carla" of "Bob and Carla". */
  apart?: string[];
}

/** Of a long message enough to recognise it. */
const LONGEST_SAID = 400;

/** What goes when a topic is forgotten: the facts that name it, and the messages that do, within the viewer's sight. */
export async function findAbout(rooms: MemoryAccess, asked: Forgetting, by: Asker = {}): Promise<Going> {
  return (await findGoing(rooms, asked, by)).going;
}

export async function forgetAbout(rooms: MemoryAccess, asked: Forgetting, by: Asker = {}): Promise<Going> {
  const { going, hidden, numbers, mentions } = await findGoing(rooms, asked, by);
  // First, while the facts are still there: after a crash the same call finds all of it again.
  const sessions = new Set(await rooms.messages.sessionsFor(hears(by)));
  await rooms.hide({ messages: hidden, sessions, mentions, by: by.turn });
  await rooms.messages.forget(numbers);
  rooms.crash?.at("memory.forgetting");
  for (const { id } of going.facts) await rooms.memory.forget(id, by.who ?? {});
  await rooms.forgetTexts([...new Set(going.topics.flatMap(({ about }) => writtenForms(about)))]);
  return going;
}

/** As it is written in the middle of a sentence, and at its beginning. */
function writtenForms(about: string): string[] {
  const small = about.toLowerCase();
  return [about, small, small.charAt(0).toUpperCase() + small.slice(1)];
}

async function findGoing(rooms: MemoryAccess, { about, except = [] }: Forgetting, by: Asker) {
  const stays: ((text: string) => boolean)[] = [];
  for (const words of except) stays.push((await readAll(rooms, words, by)).isMeant);
  const stay = { ids: except, isMeant: (text: string) => stays.some((one) => one(text)) };
  const found: Awaited<ReturnType<typeof findTopic>>[] = [];
  for (const topic of await listTopics(rooms, [about].flat(), by)) found.push(await findTopic(rooms, topic, stay, by));
  const said = new Map(found.flatMap((one) => [...one.said]));
  const hidden = new Map<string, number[]>();
  for (const { session, seq } of new Map(found.flatMap((one) => [...one.hidden])).values())
    hidden.set(session, [...(hidden.get(session) ?? []), seq]);
  const going: Going = {
    topics: found.map(({ topic, facts, said }) => ({
      ...topic,
      again: quoteTopic(topic.about),
      facts: facts.length,
      said: said.size,
    })),
    facts: [...new Map(found.flatMap(({ facts }) => facts.map((fact) => [fact.id, fact]))).values()],
    said: [...said.values()],
    names: [...new Set(found.flatMap(({ names }) => names))],
    similar: [...new Set(found.flatMap(({ similar }) => similar))],
  };
  const numbers = [...new Set(found.flatMap((one) => one.numbers))];
  return { going, hidden, numbers, mentions: (text: string) => found.some((one) => one.mentions(text)) };
}

/** Each topic on its own. What lists several is taken apart, unless somebody has written it as a whole. */
async function listTopics(rooms: MemoryAccess, asked: readonly string[], by: Asker) {
  const topics = new Map<string, { about: string; apart?: string[] }>();
  for (const phrase of asked) {
    const parts = listParts(phrase);
    const isWhole = parts.length === 0 || (await isWritten(rooms, phrase, by));
    const listed = isWhole ? [withoutQuotes(phrase)] : parts;
    for (const about of listed) topics.set(about, { about, ...(isWhole && parts.length > 0 ? { apart: parts } : {}) });
  }
  return [...topics.values()];
}

/** The newest message of the conversation that has it is the request to forget it, and what agents say only repeats that. */
async function isWritten(rooms: MemoryAccess, phrase: string, by: Asker): Promise<boolean> {
  const has = wholeChecker(phrase);
  for await (const { text } of rooms.memory.scan(by.who ?? {})) if (has(text)) return true;
  let here = 0;
  for await (const { session, said, isPersons, isForgotten } of rooms.messages.scan(
    readTopic(phrase).needles,
    hears(by),
  )) {
    if (!isPersons || isForgotten || !has(said)) continue;
    if (session !== by.session || ++here > 1) return true;
  }
  return false;
}

/** Everything is looked through twice: how the words are written in all of it says which texts are meant. */
async function findTopic(
  rooms: MemoryAccess,
  named: { about: string; apart?: string[] },
  stay: { ids: readonly string[]; isMeant: (text: string) => boolean },
  by: Asker,
) {
  const { topic, spelling, isMeant } = await readAll(rooms, named.about, by);
  const mentions = (text: string) => isMeant(text) && !stay.isMeant(text);
  const facts: Going["facts"] = [];
  for await (const { id, text } of rooms.memory.scan(by.who ?? {}))
    if (!stay.ids.includes(id) && mentions(text)) facts.push({ id, text });
  const saying = new Map<string, Going["said"][number]>();
  const hidden = new Map<string, { session: string; seq: number }>();
  const numbers: number[] = [];
  for await (const message of rooms.messages.scan(topic.needles, hears(by))) {
    const { session, seq, said, whole, number, isForgotten } = message;
    const isSaid = mentions(said);
    if (isSaid && number !== undefined) numbers.push(number);
    if (isForgotten) continue;
    const place = `${seq} ${session}`;
    if (isSaid) saying.set(place, { text: said.slice(0, LONGEST_SAID), session });
    if (isSaid || mentions(whole)) hidden.set(place, { session, seq });
  }
  const names = mostFrequent([...facts, ...saying.values()].flatMap(({ text }) => longerNames(topic, text)));
  return { topic: named, facts, said: saying, hidden, numbers, names, similar: spelling.similar(), mentions };
}

function mostFrequent(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name);
}

async function readAll(rooms: MemoryAccess, about: string, by: Asker) {
  const topic = readTopic(about);
  const spelling = new Spelling(topic);
  for await (const text of candidates(rooms, topic, by)) spelling.add(text);
  return { topic, spelling, isMeant: settleTopic(topic, spelling) };
}

/** Texts in the asker's sight that may mention it. */
async function* candidates(rooms: MemoryAccess, topic: Topic, by: Asker): AsyncGenerator<string> {
  for await (const { text } of rooms.memory.scan(by.who ?? {})) if (topic.mayMention(text)) yield text;
  for await (const { whole } of rooms.messages.scan(topic.needles, hears(by))) if (topic.mayMention(whole)) yield whole;
}

/** One fact, and what quotes it verbatim: the call that saved it, results of searches that found it, who said it. */
export async function forgetFact(rooms: MemoryAccess, id: string, by: Asker = {}): Promise<boolean> {
  const fact = await rooms.memory.seen(id, by.who ?? {});
  const gone = await rooms.memory.forget(id, by.who ?? {});
  if (fact && fact.kind !== "document" && gone.length > 0) await hideMentions(rooms, mentionsText(fact.text), by);
  return gone.length > 0;
}

/** Models no longer read what mentions it, within the asker's sight. */
export async function hideMentions(rooms: MemoryAccess, mention: Mention, by: Asker) {
  const { sessions, messages } = await rooms.messages.mentioning(mention, hears(by));
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
