/** What other programs do for a turn of ours while nothing of ours runs: tasks at agents elsewhere (A2A) and at MCP servers. */
import type { Tx } from "../../core/contracts/index.ts";
import { dropOpenHires, eraseHires } from "./a2a/index.ts";
import { dropOpenTasks, eraseTasks } from "./mcp/index.ts";
import { loseProcesses } from "./process/store.ts";

export interface FarWork {
  /** Takes up what an earlier life left open. Connects to nobody yet. */
  settle(): Promise<void>;
  stop(): void;
  /** The turn was stopped: what it waits for is no longer wanted. */
  drop(turn: string): Promise<void>;
}

export function joinFarWork(all: readonly FarWork[]): FarWork {
  return {
    async settle() {
      for (const one of all) await one.settle();
    },
    stop() {
      for (const one of all) one.stop();
    },
    async drop(turn) {
      for (const one of all) await one.drop(turn);
    },
  };
}

export function eraseFarWork(tx: Tx, session: string): void {
  eraseHires(tx, session);
  eraseTasks(tx, session);
}

/** After a restore: processes, tasks and hires of the backup are another life's. */
export function loseFarWork(tx: Tx, at: number): void {
  loseProcesses(tx, at);
  dropOpenTasks(tx);
  dropOpenHires(tx);
}
