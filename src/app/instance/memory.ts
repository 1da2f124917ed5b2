/** What memory needs of the rest: people's doors, the engine's timers, the embedder, the agents' folders, paid model calls. */
import { createEmbedder, OFFLINE_ID, OfflineEmbedder } from "../../edges/embedder/index.ts";
import { listsOnly, MEMORY_TOOLS } from "../../edges/tools/index.ts";
import type { Approvals } from "../../flow/approvals/index.ts";
import { listDoors } from "../../flow/turns/index.ts";
import { makeReader } from "../../ground/config/index.ts";
import { slotDue } from "../../ground/engine/index.ts";
import type { BudgetedModel } from "../../mind/budget/index.ts";
import type { Contexts } from "../../mind/context/index.ts";
import { MemoryRooms, makeAsking } from "../../mind/memory/index.ts";
import type { PromptFiles } from "../../mind/prompt/index.ts";
import { nextDue } from "../../mind/schedule/index.ts";
import type { Ground } from "./ground.ts";
import type { InstanceParts } from "./parts.ts";
import type { Workshop } from "./workshop.ts";

export function buildMemory(
  parts: InstanceParts,
  ground: Ground,
  workshop: Workshop,
  made: { paid: BudgetedModel; contexts: Contexts; approvals: Approvals },
): MemoryRooms<PromptFiles> {
  const { config, models, clock, ids, crash, guard, bus, log } = parts;
  const { records, engine, zone, findZone, agentModel } = ground;
  return new MemoryRooms({
    records,
    clock,
    ids,
    crash,
    guard,
    bus,
    log,
    zone,
    agents: workshop.agents,
    config: makeReader(config, "memory"),
    pdfPages: workshop.parsers.pdfPages,
    embedder: {
      settings: makeReader(config, "memory", "embedder"),
      make: () => createEmbedder(config.memory.embedder, clock),
      earlier: (id) => (id === OFFLINE_ID ? new OfflineEmbedder({ clock }) : undefined),
    },
    asking: makeAsking({ models, agentModel, ids, call: (call, signal) => made.paid.call(call, signal) }),
    askBackend: (plugin, ...asked) => workshop.plugins.calls.ask({ plugin, right: "memory" }, ...asked),
    listDoors: (session) => listDoors(records, session),
    nextDue: (cron, after) => nextDue({ kind: "cron", cron, zone: zone() }, after),
    slotDue: (id) => slotDue(records, id),
    timer: (id, slot) => engine.schedule(id, slot),
    findZone,
    renew: (texts) => made.contexts.forgetTexts(texts),
    async hide(of) {
      await made.contexts.forgetMessages(of);
      const isAllGone = (shown: string) => listsOnly(shown, of.mentions);
      await made.approvals.forgetMentions({ ...of, tools: MEMORY_TOOLS, isAllGone });
    },
  });
}
