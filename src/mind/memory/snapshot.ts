/** The facts a session sees in every request. */
import { type AgentId, isAgentSession, type SessionKey } from "../../core/domain/index.ts";
import { listScopes, type Viewer } from "./kinds.ts";
import type { Memory } from "./memory.ts";

/** The newest facts that are looked at for a snapshot. */
const MOST_FACTS = 100;

/** Facts this session may read, the newest that fit, oldest first. */
export async function takeSnapshot(
  parts: {
    memory: Pick<Memory, "list">;
    viewer(session: string): Promise<Viewer | undefined>;
    keepsFiles(): boolean;
    /** The system prompt the session began with. */
    prompt(session: SessionKey): Promise<{ since: number; system: string } | undefined>;
    tokens(text: string): number;
  },
  of: { session: SessionKey; agent: AgentId; tokens: number },
): Promise<string> {
  // Job runs and sub-agents get what they need in their task.
  const viewer = isAgentSession(of.session) ? await parts.viewer(of.session) : undefined;
  if (!viewer) return "";
  const facts = await parts.memory.list({ newest: true, limit: MOST_FACTS, scope: listScopes(viewer) });
  // The owner's files are in the prompt already, so only newer facts are added.
  const prompt = viewer.owner && parts.keepsFiles() ? await parts.prompt(of.session) : undefined;
  const lines: string[] = [];
  let left = of.tokens;
  for (const { text, kind, createdAt } of facts) {
    if (kind === "document" || kind === "episode") continue;
    if (prompt && (createdAt < prompt.since || prompt.system.includes(text))) continue;
    const line = `- ${text.replace(/\s+/g, " ").trim()}`;
    left -= parts.tokens(line) + 1;
    if (left < 0) break;
    lines.push(line);
  }
  return lines.reverse().join("\n");
}
