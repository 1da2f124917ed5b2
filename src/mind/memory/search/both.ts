/** One search over facts and over what was only said. */
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
  { memory, messages }: { memory: Pick<Memory, "search">; messages: Pick<SessionIndex, "search"> },
  { in: where = ["memory"], ...query }: BothQuery,
) {
  const limit = query.limit ?? LIMIT;
  const each = where.length > 1 ? Math.ceil(limit / 2) : limit;
  const facts = where.includes("memory") ? await memory.search({ ...query, limit: each }) : [];
  const isSaid = where.includes("sessions") && query.scope === undefined;
  const said = isSaid ? await messages.search({ query: query.query, limit: limit - facts.length || 1 }) : [];
  return [...facts, ...said].slice(0, limit);
}
