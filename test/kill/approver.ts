/** The person beside the clients: answers whatever waits, mostly yes. */
import { setTimeout as pause } from "node:timers/promises";
import { RpcFailed } from "../support/index.ts";
import { persist } from "./client.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

export interface Approver {
  allowed: number;
  denied: number;
  late: number;
  stop(): Promise<void>;
}

export function startApprover(world: World, random: Random): Approver {
  let going = true;
  const counts = { allowed: 0, denied: 0, late: 0 };
  const work = (async () => {
    while (going) {
      const { approvals } = await persist(world, () => world.lares.rpc("approvals.list", {}));
      for (const { id } of approvals) {
        const decision = random.chance(0.8) ? "allow-once" : "deny";
        try {
          await world.lares.rpc("approvals.resolve", { id, decision });
          counts[decision === "deny" ? "denied" : "allowed"]++;
        } catch (error) {
          // Killed in the middle: the list will tell whether the word was taken.
          if (error instanceof RpcFailed && error.error.code === "ALREADY_ANSWERED") counts.late++;
          else if (!(error instanceof TypeError) && !(error instanceof RpcFailed && error.status >= 500)) throw error;
        }
      }
      await pause(20);
    }
  })();
  return {
    get allowed() {
      return counts.allowed;
    },
    get denied() {
      return counts.denied;
    },
    get late() {
      return counts.late;
    },
    async stop() {
      going = false;
      await work;
    },
  };
}
