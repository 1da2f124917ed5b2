/** Handlers of `budget.*`. */
import type { Result } from "../../core/protocol/index.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export function makeBudgetMethods({
  config,
  instance,
}: Asks<"budget"> & Pick<MethodParts, "config">): Methods<"budget"> {
  return {
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
