/** Joins the checkpoints: the agents' files, the locks, the turns. */
import { join } from "node:path";
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
    turnEnds: TurnEnds;
  },
): Checkpoints {
  const { home, agents, roots, locks, turnEnds, ...shared } = parts;
  return new Checkpoints({
    ...shared,
    folder: join(home, "checkpoints"),
    files: createRootedFiles(() => roots.all()),
    findRoot: (agent) => (agents.exists(agent) ? agents.place(agent).workspace : undefined),
    alone: ({ id, agent, paths }, work) =>
      locks.alone(
        {
          holder: { turn: id, call: "undo", agent, tool: "undo" },
          plan: { tool: "undo", risk: "write", targets: paths, shown: "", binding: {} },
          workspace: agents.place(agent).workspace,
        },
        work,
      ),
    isBusy: (turn) => turnEnds.isBusy(turn),
  });
}
