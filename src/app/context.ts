/** What the context's room needs of the others: memory for its snapshot, the engine, the budget, the agents' folders. */
import { relative } from "node:path";
import type { Reads } from "../core/contracts/index.ts";
import { type AgentId, isAgentSession, type SessionKey } from "../core/domain/index.ts";
import type { TurnParts } from "../flow/turns/index.ts";
import { type Compactions, type Contexts, capResults, findPrompt, textTokens } from "../mind/context/index.ts";
import { listScopes } from "../mind/memory/index.ts";
import type { MemoryRooms } from "./memory-rooms.ts";

/** The newest facts that are looked at for a snapshot. */
const MOST_FACTS = 100;

/** Facts this session may read, the newest that fit, oldest first. */
export async function snapshotOf(
  parts: {
    rooms: Pick<MemoryRooms, "memory" | "keepsFiles" | "viewer">;
    records: Reads;
  },
  of: { session: SessionKey; agent: AgentId; tokens: number },
): Promise<string> {
  // Runs of jobs and helpers are told what they need by whoever starts them.
  const viewer = isAgentSession(of.session) ? await parts.rooms.viewer(of.session) : undefined;
  if (!viewer) return "";
  const { memory, keepsFiles } = parts.rooms;
  const facts = await memory.list({ newest: true, limit: MOST_FACTS, scope: listScopes(viewer) });
  // What the owner's files say stands in the prompt already: only what came since is told again.
  const prompt = viewer.owner && keepsFiles() ? await findPrompt(parts.records, of.session) : undefined;
  const lines: string[] = [];
  let left = of.tokens;
  for (const { text, kind, createdAt } of facts) {
    if (kind === "document" || kind === "episode") continue;
    if (prompt && (createdAt < prompt.since || prompt.system.includes(text))) continue;
    const line = `- ${text.replace(/\s+/g, " ").trim()}`;
    left -= textTokens(line) + 1;
    if (left < 0) break;
    lines.push(line);
  }
  return lines.reverse().join("\n");
}

export function roomOf(parts: {
  contexts: Contexts;
  compactions: Compactions;
  toolShare: () => number;
}): TurnParts["room"] {
  return {
    makeRoom: (ctx, at, number, why) => parts.compactions.makeRoom(ctx, at, number, why),
    async cap(at, results) {
      const view = await parts.contexts.view(at.session, at.agent, at.model ?? undefined);
      const most = Math.floor(view.shares.window * parts.toolShare());
      const dir = relative(at.workspace, at.spillDir);
      return capResults(results, most, { root: at.workspace, dir, key: at.turn });
    },
  };
}
