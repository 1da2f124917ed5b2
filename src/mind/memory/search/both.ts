/** One search over facts and over what was only said. */
import type { MemoryBackends } from "../backends/backends.ts";
import type { Found } from "../kinds.ts";
import type { Memory } from "../memory.ts";
import type { SessionIndex } from "../sessions/sessions.ts";
import type { SearchQuery } from "./search.ts";

export interface BothQuery extends SearchQuery {
  /** Facts only, when it is left out. */
  in?: readonly ("memory" | "sessions")[];
}

const LIMIT = 10;

/** The scores of the two are not comparable: each gets its half, and what is kept comes before what was only said. */
export async function searchBoth(
  {
    memory,
    messages,
    backends,
  }: {
    memory: Pick<Memory, "search">;
    messages: Pick<SessionIndex, "search">;
    backends: Pick<MemoryBackends, "search">;
  },
  { in: where = ["memory"], ...query }: BothQuery,
): Promise<{ found: Found[]; missing: string[] }> {
  const limit = query.limit ?? LIMIT;
  const each = where.length > 1 ? Math.ceil(limit / 2) : limit;
  const elsewhere = where.includes("memory") ? backends.search(query.query, query) : NOWHERE;
  const facts = where.includes("memory") ? await memory.search({ ...query, limit: each }) : [];
  const isSaid = where.includes("sessions") && query.scope === undefined;
  const said = isSaid ? await messages.search({ query: query.query, limit: limit - facts.length || 1 }) : [];
  const { found, missing } = await elsewhere;
  // Without a score to compare, they get half of the places at most.
  const others = withoutKnown(facts, found).slice(0, Math.floor(limit / 2));
  return { found: [...facts.slice(0, limit - others.length), ...others, ...said].slice(0, limit), missing };
}

/** The same as people and programs see it: trust and person decide what is found, and aren't part of the answer. */
export async function searchShown(...asked: Parameters<typeof searchBoth>) {
  const { found, missing } = await searchBoth(...asked);
  return { results: found.map(({ trust: _t, person: _p, ...hit }) => hit), ...(missing.length ? { missing } : {}) };
}

const NOWHERE = { found: [], missing: [] };

/** What back ends found beside ours. */
export function withoutKnown(facts: readonly Found[], found: readonly Found[]): Found[] {
  const known = new Set(facts.flatMap(({ id, text }) => [id, text.trim()]));
  return found.filter(({ id, text }) => !known.has(id) && !known.has(text.trim()));
}
