/** Handlers of the methods about what needs a person. */
import type { Handlers } from "../faces/gateway/index.ts";
import { countPending } from "../flow/approvals/index.ts";
import {
  type AttentionParts,
  countAttention,
  dismissAll,
  dismissAttention,
  listAttention,
} from "../flow/attention/index.ts";
import type { HandlerParts } from "./handlers.ts";
import type { House } from "./house.ts";

/** Where what needs a person is found. */
export function attentionIn(house: House, problems: readonly string[], now: number): AttentionParts {
  const { records, approvals, watchers, channels } = house;
  return {
    ...{ db: records.committed, problems, now },
    write: (work) => records.write(work),
    approvals: { list: (q) => approvals.list(q), countPending: () => countPending(records.committed) },
    watches: () => watchers.list(),
    accounts: () => channels.accounts.list(),
  };
}

type AttentionHandlers = Pick<Handlers, `attention.${string}` & keyof Handlers>;

export function makeAttentionHandlers(parts: Pick<HandlerParts, "house" | "clock" | "problems">): AttentionHandlers {
  const at = () => attentionIn(parts.house(), parts.problems(), parts.clock.now());
  return {
    "attention.list": ({ limit, after }) => listAttention(at(), { limit: limit ?? 50, after }),
    async "attention.dismiss"({ ids, all }, caller) {
      const by = caller.principal.name;
      if (ids) await dismissAttention(at(), ids, by);
      const dismissed = all ? await dismissAll(at(), by) : (ids?.length ?? 0);
      return { dismissed, total: await countAttention(at()) };
    },
  };
}
