/** Handler of `status`. */
import { toAccountName } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import type { Handlers } from "../../faces/gateway/index.ts";
import { countPending } from "../../flow/approvals/index.ts";
import { countAttention } from "../../flow/attention/index.ts";
import { unsentByState } from "../../flow/outbox/index.ts";
import { openNow, usageToday } from "../../flow/turns/index.ts";
import { countOpen, type OpenThings } from "../../ground/observe/index.ts";
import type { Instance } from "../instance.ts";
import { attentionIn } from "./attention.ts";
import { beatsIn } from "./heartbeat.ts";
import type { Asks, MethodParts } from "./parts.ts";

type StatusParts = Asks<
  | "records"
  | "engine"
  | "approvals"
  | "channels"
  | "watchers"
  | "heartbeat"
  | "schedules"
  | "agents"
  | "sandbox"
  | "mcp"
  | "plugins"
> &
  Pick<MethodParts, "home" | "version" | "models" | "clock" | "url" | "uptimeMs" | "problems">;

export function makeStatusMethods(parts: StatusParts): Pick<Handlers, "status"> {
  const { clock } = parts;
  const committed = () => parts.instance().records.committed;
  return {
    async status() {
      const instance = parts.instance();
      // Everything here must be cheap: clients ask for it often.
      const model = parts.models.primary();
      const { rss, heapUsed } = process.memoryUsage();
      const counts = await countOpen(openThings(instance));
      return {
        version: parts.version,
        pid: process.pid,
        home: parts.home,
        url: parts.url(),
        uptimeMs: parts.uptimeMs(),
        model: {
          id: model.id,
          practice: model.practice,
          because: model.because,
          ...defined({ address: model.address }),
        },
        ...counts,
        attention: await countAttention(attentionIn(instance, parts.problems(), clock.now())),
        channels: instance.channels.accounts.list().map(({ channel, account, state, detail }) => ({
          name: toAccountName({ channel, account }),
          state,
          ...truthy({ detail }),
        })),
        usageToday: await usageToday(committed(), clock.now()),
        // Agents without a heartbeat are the normal case and would only be noise.
        heartbeats: (await beatsIn(instance, clock.now())).filter((one) => one.state !== "off"),
        memory: { rss, heapUsed },
        // Whether the sandbox works is measured, not read from the settings.
        sandbox: await instance.sandbox.state(),
        problems: [...parts.problems(), ...instance.plugins.problems()],
      };
    },
  };
}

/** What is open at this moment. */
export function openThings({ records, engine }: Pick<Instance, "records" | "engine">): OpenThings {
  const db = records.committed;
  return {
    turns: () => openNow(db),
    pendingApprovals: () => countPending(db),
    unsentDeliveries: () => unsentByState(db),
    running: (session) => engine.running(session),
  };
}
