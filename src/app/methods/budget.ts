/** Handlers of `budget.*`. */
import type { Result } from "../../core/protocol/index.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export function makeBudgetMethods({
  config,
  instance,
}: Asks<"budget"> & Pick<MethodParts, "config">): Methods<"budget"> {
  return {
    async "budget.use"({ agent }) {
      // The budget answers for a session. No session is called "none", so only the shared limits come back.
      const used = await instance().budget.use({ agent: agent ?? config.routing.defaultAgent, session: "none" });
      return {
        budgets: used.flatMap(({ kind, name, day, caps, spent, reserved }) =>
          // Without a named agent, the default agent's limit would look like the limit of everything.
          kind === "all" || (kind === "agent" && agent !== undefined)
            ? [{ of: kind, day, caps: { ...caps }, spent, reserved, ...(kind === "agent" ? { agent: name } : {}) }]
            : [],
        ) as Result<"budget.use">["budgets"],
      };
    },
  };
}
