/** Handlers of `attention.*`: what needs a person. */
import { countPending } from "../../flow/approvals/index.ts";
import {
  type AttentionParts,
  countAttention,
  dismissAll,
  dismissAttention,
  listAttention,
  makeDoubts,
} from "../../flow/attention/index.ts";
import { LOST_DELIVERIES, lostAmong } from "../../flow/outbox/index.ts";
import { FAILED_TURNS, UNKNOWN_EFFECTS, withUnknownEffect } from "../../flow/turns/index.ts";
import { FAILED_JOBS } from "../../mind/schedule/index.ts";
import type { Instance } from "../instance.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export const findDoubts = makeDoubts({ lost: lostAmong, unknown: withUnknownEffect });

type Rooms = "records" | "approvals" | "watchers" | "channels" | "mcp" | "plugins";

export function attentionIn(instance: Pick<Instance, Rooms>, problems: readonly string[], now: number): AttentionParts {
  const { records, approvals, watchers, channels, mcp, plugins } = instance;
  return {
    db: records.committed,
    problems: [...problems, ...mcp.servers.problems(), ...plugins.problems()],
    now,
    happened: { turn: FAILED_TURNS, effect: UNKNOWN_EFFECTS, delivery: LOST_DELIVERIES, job: FAILED_JOBS },
    write: (work) => records.write(work),
    approvals: { list: (q) => approvals.list(q), countPending: () => countPending(records.committed) },
    watches: () => watchers.list(),
    accounts: () => channels.accounts.list(),
  };
}

export function makeAttentionMethods(
  parts: Asks<Rooms> & Pick<MethodParts, "clock" | "problems">,
): Methods<"attention"> {
  // Built for each call: problems of the settings and the time change.
  const at = () => attentionIn(parts.instance(), parts.problems(), parts.clock.now());
  return {
    "attention.list": ({ limit, after }) => listAttention(at(), { limit: limit ?? 50, after }),
    async "attention.dismiss"({ ids, all }, caller) {
      const by = caller.principal.name;
      // Named ids first: an id that can't be dismissed fails before anything else is taken off the list.
      if (ids) await dismissAttention(at(), ids, by);
      const dismissed = all ? await dismissAll(at(), by) : (ids?.length ?? 0);
      return { dismissed, total: await countAttention(at()) };
    },
  };
}
