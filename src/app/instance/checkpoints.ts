/** The checkpoints of a house: its agents' files, its locks, its turns. */
import { join } from "node:path";
import { AppError } from "../../core/domain/index.ts";
import { createRootedFiles, type Roots } from "../../edges/tools/index.ts";
import { type CheckpointParts, Checkpoints } from "../../flow/checkpoints/index.ts";
import type { Locks } from "../../flow/locks/index.ts";
import type { TurnEnds } from "../../flow/turns/index.ts";
import type { AgentFolders } from "../../mind/agents/index.ts";

export function makeCheckpoints(
  parts: Pick<CheckpointParts, "records" | "config" | "clock" | "ids" | "crash" | "log"> & {
    home: string;
    agents: AgentFolders;
    roots: Pick<Roots, "all">;
    locks: Locks;
    watch: TurnEnds;
  },
): Checkpoints {
  const { home, agents, roots, locks, watch, ...shared } = parts;
  const rootOf: CheckpointParts["findRoot"] = (agent) =>
    agents.exists(agent) ? agents.place(agent).workspace : undefined;
  return new Checkpoints({
    ...shared,
    folder: join(home, "checkpoints"),
    files: createRootedFiles(() => roots.all()),
    findRoot: rootOf,
    async alone({ id, agent, paths }, work) {
      const plan = { tool: "undo", risk: "write" as const, targets: paths, shown: "", binding: {} };
      const wish = { holder: { turn: id, call: "undo", agent, tool: "undo" }, plan, workspace: rootOf(agent)! };
      const held = await locks.take(wish, new AbortController().signal);
      if (held && "busy" in held) throw new AppError("CONFLICT", { message: held.busy, retry: "later" });
      try {
        return await work();
      } finally {
        held?.release();
      }
    },
    async isBusy(turn) {
      const row = await watch.read(turn);
      return row !== undefined && row.endedAt === undefined && row.state !== "parked";
    },
  });
}
