/** What was used in a span of days, as one sum and by day, model and agent. */
import type { Reads } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { NO_SUCH_DAYS } from "../words.ts";
import { NO_MODEL, usageBy } from "./store.ts";

export interface SummaryQuery {
  /** First and last day, `2026-05-01`; the last thirty days when they are left out. */
  from?: string | undefined;
  to?: string | undefined;
  agent?: string | undefined;
  /** How far the asker's clock is ahead of UTC. */
  zoneOffsetMinutes?: number | undefined;
}

const DAY_MS = 86_400_000;
const DAYS = 30;

const NOTHING_USED = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cost: 0,
  calls: 0,
  unknownPrice: 0,
};

export async function summariseUsage(db: Reads, asked: SummaryQuery, now: number) {
  const offsetMs = (asked.zoneOffsetMinutes ?? 0) * 60_000;
  const to = asked.to ?? dayAt(now + offsetMs);
  const from = asked.from ?? dayAt(Date.parse(to) - (DAYS - 1) * DAY_MS);
  const q = {
    from: Date.parse(from) - offsetMs,
    to: Date.parse(to) + DAY_MS - offsetMs,
    offsetMs,
    ...truthy({ agent: asked.agent }),
  };
  if (!(q.from < q.to)) {
    throw new AppError("BAD_REQUEST", {
      message: NO_SUCH_DAYS,
      details: { field: "from" },
    });
  }
  const [[total], days, models, agents] = await Promise.all([
    usageBy(db, "total", q),
    usageBy(db, "day", q),
    usageBy(db, "model", q),
    usageBy(db, "agent", q),
  ]);
  return {
    from,
    to,
    total: total?.usage ?? { ...NOTHING_USED },
    days: days.map((d) => ({ day: d.name, ...d.usage })),
    models: models.map((m) => ({ model: m.name === NO_MODEL ? null : m.name, ...m.usage })),
    agents: agents.map((a) => ({ agent: a.name, ...a.usage })),
  };
}

function dayAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
