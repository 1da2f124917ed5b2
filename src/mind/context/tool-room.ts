/** How much of the window tool results may take; the rest goes to a file the agent can read. */
import { relative } from "node:path";
import type { AgentId, SessionKey } from "../../core/domain/index.ts";
import { capResults } from "./cap.ts";
import type { Contexts } from "./context.ts";

interface At {
  session: SessionKey;
  agent: AgentId;
  model: string | null;
  turn: string;
  workspace: string;
  spillDir: string;
}

export function makeResultCap(contexts: Contexts, toolShare: () => number) {
  return async <T extends { id: string; text: string }>(at: At, results: readonly T[]): Promise<T[]> => {
    const view = await contexts.view(at.session, at.agent, at.model ?? undefined);
    const most = Math.floor(view.shares.window * toolShare());
    return capResults(results, most, { root: at.workspace, dir: relative(at.workspace, at.spillDir), key: at.turn });
  };
}
