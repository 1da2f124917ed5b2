/** Handlers of `memory.*`. */

import { AppError } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import {
  addFact,
  type Condensation,
  findAbout,
  forgetAbout,
  forgetFact,
  type Remembered,
  searchShown,
  untrusted,
} from "../../mind/memory/index.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

type PassMethods = "memory.index" | "memory.unindex" | "memory.status" | `memory.conden${string}`;

type MemoryMethodParts = Asks<"memory"> & Pick<MethodParts, "config">;

export function makeMemoryMethods(parts: MemoryMethodParts): Methods<"memory"> {
  return { ...makeFactMethods(parts), ...makePassMethods(parts) };
}

/** Single facts: kept, found, corrected, forgotten, carried to another home. */
function makeFactMethods(parts: MemoryMethodParts): Omit<Methods<"memory">, PassMethods> {
  const rooms = () => parts.instance().memory;
  const memory = () => rooms().memory;
  return {
    async "memory.add"({ idempotencyKey: _key, ...given }, { outside }) {
      const { replaced, ...added } = await addFact(rooms(), given, outside === true);
      return { ...added, ...(replaced.length ? { replaced } : {}) };
    },
    "memory.search": (query) => searchShown(rooms(), query),
    async "memory.list"({ limit, ...query }) {
      return { facts: (await memory().list({ newest: true, limit: limit ?? 100, ...query })).map(wire) };
    },
    async "memory.forget"({ id, about, except, preview }) {
      // The schema demands exactly one of the two.
      if (about === undefined) return { forgotten: await forgetFact(rooms(), id!) };
      const going = await (preview ? findAbout : forgetAbout)(rooms(), { about, except });
      return { forgotten: !preview && going.facts.length + going.said.length > 0, ...going };
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
      // A file can contain anything, so its facts wait for a person unless the caller vouches for it.
      return memory().import(trusted ? rows : rows.map(untrusted));
    },
  };
}

/** Folders of documents, the nightly pass, and how far all of it is. */
function makePassMethods({
  instance,
  config,
}: MemoryMethodParts): Pick<Methods<"memory">, PassMethods & keyof Methods<"memory">> {
  const rooms = () => instance().memory;
  return {
    "memory.index": ({ dir, scope }) => rooms().documents.add(dir, defined({ scope })),
    "memory.unindex": async ({ dir }) => ({ removed: await rooms().documents.remove(dir) }),
    "memory.status": () => rooms().status(),
    async "memory.condense"({ agent = config.routing.defaultAgent, idempotencyKey }) {
      const done = await rooms().condenseNow(agent, idempotencyKey);
      return done ? { condensation: shown(done) } : {};
    },
    "memory.condensations": async ({ agent, limit }) => ({
      condensations: (await rooms().condense.list(agent, limit ?? 10)).map(shown),
    }),
    "memory.condense.undo": async ({ id }) => ({ condensation: shown(await rooms().condense.undo(id)) }),
  };
}

/** Facts have internal fields (vectors, counters) that clients have no use for. */
function wire(fact: Remembered): Result<"memory.list">["facts"][number] {
  const { id, text, kind, scope, state, trust, source, person, at, why, supersededBy, expiresAt } = fact;
  return {
    id,
    text,
    kind,
    scope,
    state,
    trust,
    at,
    ...truthy({ source, person, why, supersededBy }),
    ...defined({ expiresAt }),
  };
}

/** A condensation stores whole facts to be undone. Only their texts are shown. */
function shown(run: Condensation): Result<"memory.condensations">["condensations"][number] {
  const { id, agent, at, model, before, after, changes, undoneAt } = run;
  return {
    id,
    agent,
    at,
    before,
    after,
    made: changes.made.map((one) => ({ ...one, from: one.from.map((old) => old.text) })),
    ...truthy({ model }),
    ...defined({ undoneAt }),
  };
}
