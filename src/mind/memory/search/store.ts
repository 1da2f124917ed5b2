/** Asking the word index, which each database has of its own kind. */
import type { Reads, SqlDialect } from "../../../core/contracts/index.ts";

/** The rows that match, newest first, as one text: making thousands of row objects costs more than finding them. */
export type WordQuery = Readonly<Record<SqlDialect, string>>;

/** `match` is made by `match.ts`. */
export async function findWords(db: Reads, query: WordQuery, match: string, limit: number): Promise<number[]> {
  const asked = { sqlite: match, postgres: toTsquery(match) }[db.dialect];
  const row = await db.get<{ numbers: string | null }>(query[db.dialect], asked, limit);
  return row?.numbers ? row.numbers.split(",").map(Number) : [];
}

/** The same question in PostgreSQL's words. The analyser's words hold no quotes and no spaces, so nothing needs escaping. */
function toTsquery(match: string): string {
  return match.replaceAll('"', "'").replaceAll(" AND ", " & ").replaceAll(" OR ", " | ");
}
