/** Handlers of `usage.*` and `budget.*`. */

import type { Result } from "../../core/protocol/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import { summariseUsage } from "../../flow/turns/index.ts";
import type { Asks, MethodParts } from "./parts.ts";

type Methods = Pick<Handlers, (`usage.${string}` & keyof Handlers) | (`budget.${string}` & keyof Handlers)>;

export function makeUsageMethods(parts: Asks<"budget" | "records"> & Pick<MethodParts, "config" | "clock">): Methods {
  const { config, instance } = parts;
  return {
    "usage.summary": (p) => summariseUsage(instance().records.committed, p, parts.clock.now()),
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
