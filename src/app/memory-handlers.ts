/** Handlers of the methods about memory, and the memory tools' view of it. */
import {
  AppError,
  agentInSession,
  type InboundMessage,
  type Origin,
  type SessionKey,
  sourceKeys,
} from "../core/domain/index.ts";
import { stampIn } from "../core/kit/index.ts";
import type { Result } from "../core/protocol/index.ts";
import type { MemoryDesk } from "../edges/tools/index.ts";
import type { Handlers } from "../faces/gateway/index.ts";
import {
  type AddOutcome,
  type Condensation,
  type Found,
  listScopes,
  type Remembered,
  replacing,
  type SessionViewer,
} from "../mind/memory/index.ts";
import type { HandlerParts } from "./handlers.ts";
import type { MemoryRooms } from "./memory-rooms.ts";

type MemoryHandlers = Pick<Handlers, `memory.${string}` & keyof Handlers>;

/** Messages of past conversations among what the tool finds. */
const SAID = 4;
/** Facts about the same that saving one brings along. */
const NEAR = 3;

export function makeMemoryHandlers(parts: Pick<HandlerParts, "house" | "clock" | "config">): MemoryHandlers {
  const rooms = () => parts.house().memory;
  const memory = () => rooms().memory;
  return {
    async "memory.add"({ at, idempotencyKey: _key, ...given }) {
      const added = await memory().add({
        ...given,
        trust: "owner",
        ...(at === undefined ? {} : { at: moment(at) }),
      });
      const replaced = await replacedBy(rooms(), added);
      const { id, state } = added;
      return { id, state, ...(replaced.length ? { replaced: replaced.map(({ id, text }) => ({ id, text })) } : {}) };
    },
    async "memory.search"({ in: where = ["memory"], ...query }) {
      const { messages } = rooms();
      const limit = query.limit ?? 10;
      // The scores of the two are not comparable: each gets its half, and what is kept comes before what was only said.
      const each = where.length > 1 ? Math.ceil(limit / 2) : limit;
      const facts = where.includes("memory") ? await memory().search({ ...query, limit: each }) : [];
      const isSaid = where.includes("sessions") && query.scope === undefined;
      const said = isSaid ? await messages.search({ query: query.query, limit: limit - facts.length || 1 }) : [];
      return { results: [...facts, ...said].slice(0, limit).map(({ trust: _t, person: _p, ...hit }) => hit) };
    },
    async "memory.list"({ limit, ...query }) {
      return { facts: (await memory().list({ newest: true, limit: limit ?? 100, ...query })).map(wire) };
    },
    async "memory.forget"({ id, about, preview }) {
      if (about === undefined) return { forgotten: (await memory().forget(id!)).length > 0 };
      const going = await (preview ? aboutOf(rooms(), about) : forgetAbout(rooms(), about));
      const count = going.facts.length + going.said.length;
      return {
        forgotten: !preview && count > 0,
        facts: going.facts,
        said: going.said.map(({ text, session }) => ({ text, session })),
      };
    },
    async "memory.correct"({ id, text }) {
      const done = await memory().correct(id, text);
      if (done) return { id: done.id, state: done.state };
      throw new AppError("NOT_FOUND", {
        message: `There is no fact "${id}" that holds now.`,
        hint: "See them: lares memory list",
      });
    },
    "memory.undo": async ({ id }) => ({ restored: (await memory().undo(id)).map(wire) }),
    "memory.pending": async (query) => ({ facts: (await memory().pending(query)).map(wire) }),
    "memory.decide": async ({ id, keep }) => ({ decided: await memory().decide(id, keep) }),
    "memory.graph": async (query) => memory().graph(query),
    "memory.export": async ({ after, limit }) => ({
      facts: (await memory().page(after, limit ?? 500)).map(({ kind, ...row }) => ({ ...row, kind })),
    }),
    async "memory.import"({ facts, trusted = false }) {
      const rows = facts as Remembered[];
      return memory().import(trusted ? rows : rows.map(untrusted));
    },
    "memory.index": async ({ dir, scope }) => rooms().documents.add(dir, scope === undefined ? {} : { scope }),
    "memory.unindex": async ({ dir }) => ({ removed: await rooms().documents.remove(dir) }),
    async "memory.status"() {
      const { messages, documents } = rooms();
      const { live, pending, documents: pieces } = await memory().counts();
      const vectors = await memory().embeddingProgress();
      return {
        facts: live,
        pending,
        documents: pieces,
        waitingMessages: await messages.waiting(),
        folders: await documents.folders(),
        ...(vectors ? { vectors } : {}),
      };
    },
    async "memory.condense"({ agent = parts.config.routing.defaultAgent, idempotencyKey }) {
      const id = `asked:${agent}:${idempotencyKey ?? parts.clock.now()}`;
      const done = await rooms().condense.run(agent, id);
      return done ? { condensation: shown(done) } : {};
    },
    "memory.condensations": async ({ agent, limit }) => ({
      condensations: (await rooms().condense.list(agent, limit ?? 10)).map(shown),
    }),
    "memory.condense.undo": async ({ id }) => ({ condensation: shown(await rooms().condense.undo(id)) }),
  };
}

/** `firstShown`: the number of the first message of a session that its model still reads word for word. */
export function memoryDesk(
  rooms: MemoryRooms,
  {
    firstShown,
    zoneOf,
  }: {
    firstShown: (session: string, agent: string) => Promise<number>;
    /** The zone of whoever asks in this turn. */
    zoneOf: (turn: string) => Promise<string>;
  },
): MemoryDesk {
  const viewer = (caller: Parameters<MemoryDesk["search"]>[0]["caller"]) => viewerOf(rooms, caller);
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
        ...(expiresAt === undefined ? {} : { expiresAt }),
        ...(who.person === undefined ? { agent: caller.agent } : { person: who.person }),
        ...(instead && "fact" in instead ? instead.fact : {}),
      });
      const replaced = await replacedBy(rooms, saved);
      const gone = new Set([saved.id, ...replaced.map((old) => old.id)]);
      const near = found.filter((hit) => hit.kind !== "document" && hit.kind !== "message" && !gone.has(hit.id));
      return {
        ...saved,
        ...(replaces === undefined ? {} : await kept(rooms, replaces, saved.id, instead)),
        replaced: replaced.map((old) => ({ id: old.id, text: old.text, origin: originOf(old, who) })),
        near: near.slice(0, NEAR).map((hit) => ({ id: hit.id, text: hit.text, origin: originOf(hit, who) })),
      };
    },
    async findText({ id, caller }) {
      return (await rooms.memory.seen(id, await viewer(caller)))?.text;
    },
    about: async ({ about, caller }) => aboutOf(rooms, about, await viewer(caller), caller.session),
    forgetAbout: async ({ about, caller }) => forgetAbout(rooms, about, await viewer(caller), caller.session),
    async search({ query, caller }) {
      const who = await viewer(caller);
      const facts = await rooms.memory.search({ query, limit: 8, ...who });
      // Somebody the owner's token speaks for by name finds what they said themselves, not what others said.
      const ears = who.alone
        ? { agent: who.agent, sessions: [caller.session] }
        : who.person === undefined
          ? who
          : { ...who, owner: false };
      const said = await rooms.messages.search({ query, limit: SAID * 3, ...ears });
      // What this very conversation still shows the model can see; what was compacted it cannot.
      const shown = await firstShown(caller.session, caller.agent);
      const hidden = said.filter((hit) => hit.source !== caller.session || Number(hit.place) < shown).slice(0, SAID);
      const zone = await zoneOf(caller.turn);
      return [...facts, ...hidden].map((hit) => ({
        ...hit,
        day: stampIn(zone, hit.at).date,
        origin: originOf(hit, who),
      }));
    },
    forget: async ({ id, caller }) => (await rooms.memory.forget(id, await viewer(caller))).length > 0,
  };
}

/** The facts that a new one took the place of: nothing is replaced without being named. */
async function replacedBy(rooms: MemoryRooms, added: AddOutcome): Promise<Remembered[]> {
  const ids = (added.state === "live" && added.superseded) || [];
  const old = await Promise.all(ids.map((id) => rooms.memory.get(id)));
  return old.filter((fact) => fact !== undefined);
}

/** Why a fact that was to be replaced still holds. Read back, so that a repeated call says the same. */
async function kept(
  rooms: MemoryRooms,
  old: string,
  by: string,
  instead: ReturnType<typeof replacing> | undefined,
): Promise<{ notReplaced?: string }> {
  if ((await rooms.memory.seen(old, {}))?.supersededBy === by || old === by) return {};
  if (instead && "why" in instead) return { notReplaced: instead.why };
  return { notReplaced: "what you saved was already known; memory_forget removes the old one" };
}

/** What goes when a topic is forgotten: the facts that name it, and the messages that do, within the viewer's sight. */
async function aboutOf(rooms: MemoryRooms, about: string, who?: SessionViewer, session?: string) {
  const facts = await rooms.memory.naming(about, who ?? {});
  // A stranger's session, and one of several people, reaches its own talk only.
  const ears = who?.alone && session !== undefined ? { agent: who.agent, sessions: [session] } : (who ?? {});
  return { facts: facts.map(({ id, text }) => ({ id, text })), said: await rooms.messages.naming(about, ears) };
}

async function forgetAbout(rooms: MemoryRooms, about: string, who?: SessionViewer, session?: string) {
  const going = await aboutOf(rooms, about, who, session);
  await rooms.messages.forget(going.said.map(({ number }) => number));
  for (const { id } of going.facts) await rooms.memory.forget(id, who ?? {});
  // As it is written in the middle of a sentence, and at its beginning.
  const small = about.toLowerCase();
  await rooms.forgetTexts([...new Set([about, small, small.charAt(0).toUpperCase() + small.slice(1)])]);
  return going;
}

/** Nobody can tell who wrote an export: what it says waits for a person. What was superseded there stays history. */
function untrusted(fact: Remembered): Remembered {
  const state = fact.state === "superseded" ? "superseded" : "pending";
  return { ...fact, trust: "outside", state, why: "It came with an imported file." };
}

/** The owner's own memory is not text from outside; what others said is, except to themselves. */
function originOf({ trust, person }: Pick<Found, "trust" | "person">, viewer: SessionViewer): Origin {
  if (trust === "owner" || trust === "agent") return "own";
  return trust === "person" && person !== undefined && person === viewer.person ? "own" : "outside";
}

/** Whose memory a call sees. A session without a turn that is known is a stranger's: the safe side. */
async function viewerOf(
  rooms: MemoryRooms,
  { agent, session, route }: Parameters<MemoryDesk["search"]>[0]["caller"],
): Promise<SessionViewer> {
  return { ...((await rooms.viewer(session)) ?? { person: `${route.channel}:${route.account}` }), agent };
}

/** What `/memory` says: the best finds, or the newest facts. */
export async function recall(
  rooms: MemoryRooms,
  session: SessionKey,
  query: string,
  message: InboundMessage,
): Promise<string> {
  const agent = agentInSession(session) ?? "main";
  const viewer = await viewerOf(rooms, { agent, session, turn: "", route: message.route });
  const found = query
    ? await rooms.memory.search({ query, limit: 8, ...viewer })
    : await rooms.memory.list({ newest: true, limit: 20, scope: listScopes(viewer) });
  return found.map((fact) => `- ${fact.text}`).join("\n") || "Nothing is remembered about that.";
}

function wire(fact: Remembered): Result<"memory.list">["facts"][number] {
  const { id, text, kind, scope, state, trust, source, person, at, why, supersededBy, expiresAt } = fact;
  return {
    ...{ id, text, kind, scope, state, trust, at },
    ...(source ? { source } : {}),
    ...(person ? { person } : {}),
    ...(why ? { why } : {}),
    ...(supersededBy ? { supersededBy } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

function shown(run: Condensation): Result<"memory.condensations">["condensations"][number] {
  const { id, agent, at, model, before, after, changes, undoneAt } = run;
  return {
    ...{ id, agent, at, before, after },
    made: changes.made.map((one) => ({ ...one, from: one.from.map((old) => old.text) })),
    ...(model ? { model } : {}),
    ...(undoneAt === undefined ? {} : { undoneAt }),
  };
}

function moment(at: number | string): number {
  // People and chat exports also write "1:56 pm on 8 May, 2023".
  const time = typeof at === "number" ? at : Date.parse(dayFirst(at.replace(/\s+/g, " ")));
  if (Number.isFinite(time)) return time;
  throw new AppError("BAD_REQUEST", { message: `"${at}" is no moment.`, hint: "Use epoch milliseconds or ISO 8601." });
}

function dayFirst(text: string): string {
  return text.replace(/^(\d{1,2}:\d{2}(?: ?[ap]m)?) on (.+)$/i, "$2 $1");
}
