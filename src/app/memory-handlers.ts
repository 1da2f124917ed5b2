/** Handlers of the methods about memory, and the memory tools' view of it. */
import { AppError, asId, type InboundMessage, type SessionKey } from "../core/domain/index.ts";
import type { Result } from "../core/protocol/index.ts";
import type { MemoryDesk } from "../edges/tools/index.ts";
import type { Handlers } from "../faces/gateway/index.ts";
import type { Sessions } from "../flow/sessions/index.ts";
import { type Memory, type Remembered, scopesOf, type Viewer } from "../mind/memory/index.ts";
import type { HandlerParts } from "./handlers.ts";

type MemoryHandlers = Pick<Handlers, `memory.${string}` & keyof Handlers>;

export function makeMemoryHandlers(parts: Pick<HandlerParts, "house">): MemoryHandlers {
  const memory = () => parts.house().memory;
  return {
    async "memory.add"({ at, idempotencyKey: _key, ...given }) {
      const { id, state } = await memory().add({
        ...given,
        trust: "owner",
        ...(at === undefined ? {} : { at: moment(at) }),
      });
      return { id, state };
    },
    "memory.search": async (query) => ({ results: await memory().search(query) }),
    "memory.list": async ({ limit, scope }) => ({
      facts: (await memory().list({ newest: true, limit: limit ?? 100, ...(scope ? { scope } : {}) })).map(wire),
    }),
    "memory.forget": async ({ id }) => ({ forgotten: (await memory().forget(id)).length > 0 }),
  };
}

/** Whose memory a session sees follows from who talks in it: the owner's own doors, or a person on a channel. */
export async function viewerOf(
  sessions: Sessions,
  at: { agent: string; session: string; channel: string; account: string },
): Promise<Viewer> {
  const ownDoor = at.channel === "none" || ((at.channel === "http" || at.channel === "ws") && at.account === "owner");
  if (ownDoor) return { agent: at.agent, owner: true };
  const session = await sessions.get(asId<SessionKey>(at.session)).catch(() => undefined);
  return { agent: at.agent, person: session?.person ?? `${at.channel}:${at.account}` };
}

export function memoryDesk(memory: Memory, sessions: Sessions): MemoryDesk {
  const viewer = ({ agent, session, route }: Parameters<MemoryDesk["search"]>[0]["caller"]) =>
    viewerOf(sessions, { agent, session, channel: route.channel, account: route.account });
  return {
    async save({ key, text, kind, caller }) {
      const who = await viewer(caller);
      return memory.add({
        id: `mem_${key.replace(/[^a-z0-9]/gi, "").slice(-40)}`,
        text,
        source: `session:${caller.session}`,
        trust: "agent",
        ...(kind ? { kind } : {}),
        ...(who.person === undefined ? { agent: caller.agent } : { person: who.person }),
      });
    },
    search: async ({ query, caller }) => memory.search({ query, limit: 8, ...(await viewer(caller)) }),
    forget: async ({ id, caller }) => (await memory.forget(id, await viewer(caller))).length > 0,
  };
}

/** What `/memory` says: the best finds, or the newest facts. */
export async function recall(
  memory: Memory,
  sessions: Sessions,
  session: SessionKey,
  query: string,
  message: InboundMessage,
): Promise<string> {
  const agent = /^agent:([^:]+):/.exec(session)?.[1] ?? "main";
  const { channel, account } = message.route;
  const viewer = await viewerOf(sessions, { agent, session, channel, account });
  const found = query
    ? await memory.search({ query, limit: 8, ...viewer })
    : await memory.list({ newest: true, limit: 20, scope: scopesOf(viewer) });
  return found.map((fact) => `- ${fact.text}`).join("\n") || "Nothing is remembered about that.";
}

function wire(fact: Remembered): Result<"memory.list">["facts"][number] {
  const { id, text, kind, scope, state, trust, source, person, at } = fact;
  return { id, text, kind, scope, state, trust, at, ...(source ? { source } : {}), ...(person ? { person } : {}) };
}

function moment(at: number | string): number {
  const time = typeof at === "number" ? at : Date.parse(at);
  if (Number.isFinite(time)) return time;
  throw new AppError("BAD_REQUEST", { message: `"${at}" is no moment.`, hint: "Use epoch milliseconds or ISO 8601." });
}
