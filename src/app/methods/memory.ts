/** Handlers of `memory.*`. */

import { AppError } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import {
  type Condensation,
  findAbout,
  findReplaced,
  forgetAbout,
  momentOfFact,
  type Remembered,
  untrusted,
} from "../../mind/memory/index.ts";
import type { MethodParts } from "./parts.ts";

type Methods = Pick<Handlers, `memory.${string}` & keyof Handlers>;

export function makeMemoryMethods(parts: Pick<MethodParts, "instance" | "clock" | "config">): Methods {
  const rooms = () => parts.instance().memory;
  const memory = () => rooms().memory;
  return {
    async "memory.add"({ at, idempotencyKey: _key, ...given }) {
      const added = await memory().add({
        ...given,
        trust: "owner",
        ...(at === undefined ? {} : { at: momentOfFact(at) }),
      });
      const replaced = await findReplaced(rooms(), added);
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
      const going = await (preview ? findAbout(rooms(), about) : forgetAbout(rooms(), about));
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
        ...truthy({ vectors }),
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

function wire(fact: Remembered): Result<"memory.list">["facts"][number] {
  const { id, text, kind, scope, state, trust, source, person, at, why, supersededBy, expiresAt } = fact;
  return {
    ...{ id, text, kind, scope, state, trust, at },
    ...truthy({ source, person, why, supersededBy }),
    ...defined({ expiresAt }),
  };
}

function shown(run: Condensation): Result<"memory.condensations">["condensations"][number] {
  const { id, agent, at, model, before, after, changes, undoneAt } = run;
  return {
    ...{ id, agent, at, before, after },
    made: changes.made.map((one) => ({ ...one, from: one.from.map((old) => old.text) })),
    ...truthy({ model }),
    ...defined({ undoneAt }),
  };
}
