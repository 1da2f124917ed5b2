/** The checkpoints of a house: its agents' files, its locks, its turns. */
import { join } from "node:path";
import { AppError } from "../core/domain/index.ts";
import { createAgentFiles, type Roots } from "../edges/tools/index.ts";
import { type CheckpointParts, Checkpoints } from "../flow/checkpoints/index.ts";
import type { Locks } from "../flow/locks/index.ts";
import type { TurnEnds } from "../flow/turns/index.ts";
import type { AgentFolders } from "../mind/agents/index.ts";

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
    files: filesOf(roots),
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

/** Files in the workspace are named from there, those in an agent's other folders by their whole path. */
function filesOf(roots: Pick<Roots, "all">): CheckpointParts["files"] {
  const files = createAgentFiles();
  const outer = (path: string) => roots.all().find((root) => path === root || path.startsWith(`${root}/`));
  return {
    async read(root, path, most) {
      const found = await files.read(outer(path) ?? root, path, most);
      const at = outer(path);
      return at === undefined ? found : { ...found, path: join(at, found.path) };
    },
    write: (root, path, content, how) => files.write(outer(path) ?? root, path, content, how),
    remove: (root, path) => files.remove(outer(path) ?? root, path),
    async manifest(root, most) {
      const found = await files.manifest(root, most);
      if (outer(root) !== root) return found;
      return { ...found, files: new Map([...found.files].map(([path, mark]) => [join(root, path), mark])) };
    },
  };
}
