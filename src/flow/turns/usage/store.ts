/** What model calls used, summed. */
import type { Reads, SqlValue } from "../../../core/contracts/index.ts";
import { runSessionRange, type Usage } from "../../../core/domain/index.ts";
import { startOfDay } from "../../../core/kit/index.ts";

/**
 * `cost` is what is known of it; null when no call's price is known. `unknownPrice` calls come on top: a sum is never shown
 * without them, and they never hide it.
 */
export type UsageSum = Usage & { calls: number; unknownPrice: number };

export function usageToday(db: Reads, now: number): Promise<UsageSum> {
  return sumUsage(db, "at >= ?", startOfDay(now));
}

/** What one session's model calls used. */
export function sumSessionUsage(db: Reads, session: string): Promise<UsageSum> {
  return sumUsage(db, "session = ?", session);
}

/** What the runs of one job used since then. */
export function sumRunUsage(db: Reads, job: string, since: number): Promise<UsageSum> {
  const { from, to } = runSessionRange(job);
  return sumUsage(db, "at >= ? AND session >= ? AND session < ?", since, from, to);
}

export type UsageBy = "day" | "model" | "agent" | "total";

/** Stands in the column of the model for a call that none of them answered. */
export const NO_MODEL = "none";

/** What was used between two times, summed by something. `offsetMs`: where days begin. */
export async function usageBy(
  db: Reads,
  by: UsageBy,
  q: { from: number; to: number; offsetMs: number; agent?: string },
): Promise<{ name: string; usage: UsageSum }[]> {
  const column = {
    // Days since 1970: a number on every database.
    day: "(at + ?) / 86400000",
    model: "model",
    agent: "agent",
    total: "'total'",
  }[by];
  const rows = await db.all<UsageRow>(
    `SELECT ${column} AS name, COUNT(*) AS calls, SUM(input_tokens) AS i, SUM(output_tokens) AS o,
       SUM(cache_read_tokens) AS r, SUM(cache_write_tokens) AS w, COALESCE(SUM(cost), 0) AS c,
       COUNT(*) - COUNT(cost) AS unknown
     FROM usage WHERE at >= ? AND at < ? AND (? = '' OR agent = ?) GROUP BY 1 ORDER BY 1`,
    ...(by === "day" ? [q.offsetMs] : []),
    q.from,
    q.to,
    q.agent ?? "",
    q.agent ?? "",
  );
  return rows.map((row) => ({
    name: by === "day" ? new Date(Number(row.name) * 86_400_000).toISOString().slice(0, 10) : row.name,
    usage: {
      inputTokens: row.i,
      outputTokens: row.o,
      cacheReadTokens: row.r,
      cacheWriteTokens: row.w,
      cost: knownCost(row.c, row.calls, row.unknown),
      calls: row.calls,
      unknownPrice: row.unknown,
    },
  }));
}

interface UsageRow {
  /** Of a day, its number. */
  name: string;
  calls: number;
  i: number;
  o: number;
  r: number;
  w: number;
  c: number;
  unknown: number;
}

async function sumUsage(db: Reads, where: string, ...values: SqlValue[]): Promise<UsageSum> {
  const row = await db.get<{ i: number; o: number; r: number; w: number; c: number; unknown: number; n: number }>(
    `SELECT COALESCE(SUM(input_tokens), 0) AS i, COALESCE(SUM(output_tokens), 0) AS o,
       COALESCE(SUM(cache_read_tokens), 0) AS r, COALESCE(SUM(cache_write_tokens), 0) AS w,
       COALESCE(SUM(cost), 0) AS c, COUNT(*) - COUNT(cost) AS unknown, COUNT(*) AS n FROM usage WHERE ${where}`,
    ...values,
  );
  return {
    inputTokens: row?.i ?? 0,
    outputTokens: row?.o ?? 0,
    cacheReadTokens: row?.r ?? 0,
    cacheWriteTokens: row?.w ?? 0,
    cost: knownCost(row?.c ?? 0, row?.n ?? 0, row?.unknown ?? 0),
    calls: row?.n ?? 0,
    unknownPrice: row?.unknown ?? 0,
  };
}

function knownCost(known: number, calls: number, unknown: number): number | null {
  return calls > 0 && unknown === calls ? null : known;
}

export function usageByModel(
  db: Reads,
): Promise<
  { model: string; calls: number; unpriced: number; i: number; o: number; r: number; w: number; c: number }[]
> {
  return db.all(
    `SELECT model, COUNT(*) AS calls, COUNT(*) - COUNT(cost) AS unpriced, SUM(input_tokens) AS i, SUM(output_tokens) AS o, SUM(cache_read_tokens) AS r,
       SUM(cache_write_tokens) AS w, COALESCE(SUM(cost), 0) AS c FROM usage GROUP BY model`,
  );
}

/** Tokens that went through models since then: of an agent's turns, or of those an account brought. */
export async function tokensSince(
  db: Reads,
  of: { agent: string } | { channel: string; account: string },
  since: number,
): Promise<number> {
  const sum = "SELECT COALESCE(SUM(u.input_tokens + u.output_tokens), 0) AS n FROM usage u";
  const row =
    "agent" in of
      ? await db.get<{ n: number }>(`${sum} WHERE u.at >= ? AND u.agent = ?`, since, of.agent)
      : await db.get<{ n: number }>(
          `${sum} JOIN turn t ON t.id = u.turn WHERE u.at >= ? AND json_extract(t.route, '$.channel') = ?
           AND json_extract(t.route, '$.account') = ?`,
          since,
          of.channel,
          of.account,
        );
  return row?.n ?? 0;
}
