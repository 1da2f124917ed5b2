/** Handlers of `policy.*`. */
import { toJson } from "../../core/domain/index.ts";
import type { Asks, Methods } from "./parts.ts";

export function makePolicyMethods(parts: Asks<"explainCommand">): Methods<"policy"> {
  return {
    async "policy.explain"({ command, agent }) {
      // Planned and judged as exec would; nothing runs.
      const found = await parts.instance().explainCommand(command, agent);
      return { ...found, parts: found.parts.map((part) => toJson(part)) };
    },
  };
}
