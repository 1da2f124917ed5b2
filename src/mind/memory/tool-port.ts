/** What the memory tools and `/memory` see: only what everyone who can read the session may know. */
import type { ToolCaller } from "../../core/contracts/index.ts";
import {
  agentInSession,
  type InboundMessage,
  type Origin,
  personKeys,
  type SessionKey,
  sourceKeys,
} from "../../core/domain/index.ts";
import { defined, stampIn } from "../../core/kit/index.ts";
import { type Found, listScopes, type MemoryKind } from "./kinds.ts";
import { replacing } from "./replacing.ts";
import { searchBoth, withoutKnown } from "./search/both.ts";
import { splitWords } from "./text/analyse.ts";
import {
  type Forgetting,
  findAbout,
  findReplaced,
  forgetAbout,
  forgetFact,
  kept,
  type MemoryAccess,
} from "./topics.ts";
import type { SessionViewer } from "./viewers.ts";

/** Messages of past conversations among what the tool finds. */
const SAID = 4;
/** Facts about the same that saving one brings along. */
const NEAR = 3;

interface Saved {
  key: string;
  text: string;
  kind?: MemoryKind;
  replaces?: string;
  expiresAt?: number;
  caller: ToolCaller;
}

interface Shown {
  id: string;
  text: string;
  origin: Origin;
}

export interface MemoryToolPort {
  save(memory: Saved): Promise<{ id: string; state: string; notReplaced?: string; replaced: Shown[]; near: Shown[] }>;
  findText(memory: { id: string; caller: ToolCaller }): Promise<string | undefined>;
  about(topic: Forgetting & { caller: ToolCaller }): ReturnType<typeof findAbout>;
  forgetAbout(topic: Forgetting & { caller: ToolCaller }): ReturnType<typeof findAbout>;
  readEnd(end: { until: string; caller: ToolCaller }): Promise<{ at: number; words: string; isOver: boolean }>;
  search(query: { query: string; caller: ToolCaller }): Promise<{
    hits: (Found & { day: string; origin: Origin })[];
    missing: string[];
  }>;
  forget(memory: { id: string; caller: ToolCaller }): Promise<boolean>;
}

/** `firstShown`: the number of the first message that the session's model still sees in full. */
export function makeToolPort(
  rooms: MemoryAccess,
  {
    firstShown,
    findZone,
    readEnd,
  }: {
    firstShown: (session: string, agent: string) => Promise<number>;
    /** The time zone of the person who asks in this turn. */
    findZone: (turn: string) => Promise<string>;
    /** A date or plain words as a moment. Throws AppError for what is neither. */
    readEnd: (text: string, zone: string) => { at: number; isOver: boolean };
  },
): MemoryToolPort {
  const viewer = (caller: ToolCaller) => findViewer(rooms, caller);
  const asker = async (caller: ToolCaller) => ({
    who: await viewer(caller),
    session: caller.session,
    turn: caller.turn,
  });
  return {
    async save({ key, text, kind, replaces, expiresAt, caller }) {
      const who = await viewer(caller);
      const found = await rooms.memory.search({ query: text, limit: NEAR * 2, ...who });
      const instead = replaces === undefined ? undefined : replacing(await rooms.memory.seen(replaces, who), who);
      const saved = await rooms.memory.add({
        id: `mem_${key.replace(/[^a-z0-9]/gi, "").slice(-40)}`,
        text,
        source: sourceKeys.session(caller.session),
        trust: who.owner ? "agent" : "person",
        kind: kind ?? "fact",
        ...defined({ expiresAt }),
        ...(who.person === undefined ? { agent: caller.agent } : { person: who.person }),
        ...(instead && "fact" in instead ? instead.fact : {}),
      });
      const replaced = await findReplaced(rooms, saved);
      const gone = new Set([saved.id, ...replaced.map((old) => old.id)]);
      const near = found.filter(
        (hit) => hit.kind !== "document" && hit.kind !== "message" && !gone.has(hit.id) && isNear(text, hit.text),
      );
      return {
        ...saved,
        ...(replaces === undefined ? {} : await kept(rooms, replaces, saved.id, instead)),
        replaced: replaced.map((old) => ({ id: old.id, text: old.text, origin: judgeOrigin(old, who) })),
        near: near.slice(0, NEAR).map((hit) => ({ id: hit.id, text: hit.text, origin: judgeOrigin(hit, who) })),
      };
    },
    async findText({ id, caller }) {
      return (await rooms.memory.seen(id, await viewer(caller)))?.text;
    },
    async readEnd({ until, caller }) {
      const zone = await findZone(caller.turn);
      const end = readEnd(until, zone);
      const { weekday, date, time } = stampIn(zone, end.at);
      return { ...end, words: `${weekday} ${date} ${time}` };
    },
    about: async ({ caller, ...asked }) => findAbout(rooms, asked, await asker(caller)),
    forgetAbout: async ({ caller, ...asked }) => forgetAbout(rooms, asked, await asker(caller)),
    async search({ query, caller }) {
      const who = await viewer(caller);
      const elsewhere = rooms.backends.search(query, who);
      const facts = await rooms.memory.search({ query, limit: 8, ...who });
      // Somebody the owner's token speaks for by name finds what they said themselves, not what others said.
      const among = who.person === undefined ? who : { ...who, owner: false };
      const ears = who.alone ? { agent: who.agent, sessions: [caller.session] } : among;
      const said = await rooms.messages.search({ query, limit: SAID * 3, ...ears });
      // What this very conversation still shows the model can see; what was compacted it cannot.
      const shown = await firstShown(caller.session, caller.agent);
      const hidden = said.filter((hit) => hit.source !== caller.session || Number(hit.place) < shown).slice(0, SAID);
      const zone = await findZone(caller.turn);
      const { found, missing } = await elsewhere;
      const hits = [...facts, ...withoutKnown(facts, found), ...hidden];
      const day = (at: number) => stampIn(zone, at).date;
      return { hits: hits.map((hit) => ({ ...hit, day: day(hit.at), origin: judgeOrigin(hit, who) })), missing };
    },
    forget: async ({ id, caller }) => forgetFact(rooms, id, await asker(caller)),
  };
}

/** Search finds the best there is, however little that has to do with it: two words in common, or half of a short fact. */
function isNear(one: string, other: string): boolean {
  const [a, b] = [new Set(splitWords(one)), new Set(splitWords(other))];
  const shared = [...a].filter((word) => b.has(word)).length;
  return shared >= Math.min(2, Math.ceil(Math.min(a.size, b.size) / 2)) && shared > 0;
}

/** The owner's own memory is not text from outside; what others said is, except to themselves. */
function judgeOrigin({ trust, person }: Pick<Found, "trust" | "person">, viewer: SessionViewer): Origin {
  if (trust === "owner" || trust === "agent") return "own";
  return trust === "person" && person !== undefined && person === viewer.person ? "own" : "outside";
}

/** Whose memory a call sees. A session without a turn that is known is a stranger's: the safe side. */
async function findViewer(rooms: MemoryAccess, { agent, session, route }: ToolCaller): Promise<SessionViewer> {
  return { ...((await rooms.viewer(session)) ?? { person: personKeys.at(route.channel, route.account) }), agent };
}

function listed(facts: readonly { text: string; kind: string; source?: string | null }[]): string {
  const lines = facts.map(({ text, kind, source }) => `- ${text}${kind === "outside" ? ` (${source})` : ""}`);
  return lines.join("\n") || "Nothing is remembered about that.";
}

/** What `/memory` says: the best finds, or the newest facts. */
export async function recall(
  rooms: MemoryAccess,
  session: SessionKey,
  query: string,
  message: InboundMessage,
): Promise<string> {
  const agent = agentInSession(session) ?? "main";
  const viewer = await findViewer(rooms, { agent, session, turn: "", route: message.route });
  if (!query) return listed(await rooms.memory.list({ newest: true, limit: 20, scope: listScopes(viewer) }));
  const { found, missing } = await searchBoth(rooms, { query, limit: 8, ...viewer });
  return [listed(found), ...missing].join("\n");
}
