/** Handlers of the methods about what needs a person. */
import type { Handlers } from "../faces/gateway/index.ts";
import { countAttention, dismissAll, dismissAttention, listAttention } from "./attention/attention.ts";
import type { HandlerParts } from "./handlers.ts";

type AttentionHandlers = Pick<Handlers, `attention.${string}` & keyof Handlers>;

export function makeAttentionHandlers(parts: Pick<HandlerParts, "house" | "clock" | "problems">): AttentionHandlers {
  const at = () => ({ house: parts.house(), problems: parts.problems(), now: parts.clock.now() });
  return {
    "attention.list": ({ limit, after }) => listAttention(at(), { limit: limit ?? 50, after }),
    async "attention.dismiss"({ ids, all }, caller) {
      const { now, house } = at();
      const by = caller.principal.name;
      if (ids) await dismissAttention(house, ids, by, now);
      const dismissed = all ? await dismissAll(at(), by) : (ids?.length ?? 0);
      return { dismissed, total: await countAttention(at()) };
    },
  };
}
