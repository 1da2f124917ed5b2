/** Handlers of `policy.*`. */
import type { Json } from "../../core/domain/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import type { Asks } from "./parts.ts";

type Methods = Pick<Handlers, `policy.${string}` & keyof Handlers>;

export function makePolicyMethods(parts: Asks<"explainCommand">): Methods {
  return {
    async "policy.explain"({ command, agent }) {
      const found = await parts.instance().explainCommand(command, agent);
      return { ...found, parts: found.parts as unknown as Json[] };
    },
  };
}
