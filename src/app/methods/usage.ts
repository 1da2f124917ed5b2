/** Handlers of `usage.*` and `budget.*`. */

import { AppError } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import { NO_MODEL, usageBy } from "../../flow/turns/index.ts";
import type { Asks, MethodParts } from "./parts.ts";

const DAY_MS = 86_400_000;

type Methods = Pick<Handlers, (`usage.${string}` & keyof Handlers) | (`budget.${string}` & keyof Handlers)>;

export function makeUsageMethods(parts: Asks<"budget" | "records"> & Pick<MethodParts, "config" | "clock">): Methods {
  const { config, instance } = parts;
  const committed = () => parts.instance().records.committed;
  return {
    async "usage.summary"(p) {
      const offsetMs = (p.zoneOffsetMinutes ?? 0) * 60_000;
      const today = new Date(parts.clock.now() + offsetMs).toISOString().slice(0, 10);
      const to = p.to ?? today;
      const from = p.from ?? new Date(Date.parse(to) - 29 * DAY_MS).toISOString().slice(0, 10);
      const q = {
        from: Date.parse(from) - offsetMs,
        to: Date.parse(to) + DAY_MS - offsetMs,
        offsetMs,
        ...truthy({ agent: p.agent }),
      };
      if (!(q.from < q.to)) {
        throw new AppError("BAD_REQUEST", {
          message: "`from` is after `to`, or no such day.",
          details: { field: "from" },
        });
      }
      const [[total], days, models, agents] = await Promise.all([
        usageBy(committed(), "total", q),
        usageBy(committed(), "day", q),
        usageBy(committed(), "model", q),
        usageBy(committed(), "agent", q),
      ]);
      return {
        from,
        to,
        total: total?.usage ?? { ...NOTHING_USED },
        days: days.map((d) => ({ day: d.name, ...d.usage })),
        models: models.map((m) => ({ model: m.name === NO_MODEL ? null : m.name, ...m.usage })),
        agents: agents.map((a) => ({ agent: a.name, ...a.usage })),
      };
    },
    async "budget.use"({ agent }) {
      const used = await instance().budget.use({ agent: agent ?? config.routing.defaultAgent, session: "none" });
      return {
        budgets: used.flatMap(({ kind, name, day, caps, spent, reserved }) =>
          kind === "all" || (kind === "agent" && agent !== undefined)
            ? [{ of: kind, day, caps: { ...caps }, spent, reserved, ...(kind === "agent" ? { agent: name } : {}) }]
            : [],
        ) as Result<"budget.use">["budgets"],
      };
    },
  };
}

const NOTHING_USED = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cost: 0,
  calls: 0,
  unknownPrice: 0,
};
