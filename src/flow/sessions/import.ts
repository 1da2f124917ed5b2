/** A conversation from a file: where its lines go, and who is asked first. */
import { createHash } from "node:crypto";
import {
  type AgentId,
  agentInSession,
  asId,
  type HistoryEntry,
  type SessionKey,
  sessionKeys,
  unknownAgent,
  workKeys,
} from "../../core/domain/index.ts";
import { type Guard, guardedImport } from "../../core/kit/index.ts";
import type { Sessions } from "./sessions.ts";

export interface ImportLinesParts {
  sessions: Pick<Sessions, "import">;
  agentExists: (agent: AgentId) => boolean;
  defaultAgent: () => string;
  /** Knows which lines stopped Lares before (I13). */
  guard: Guard;
}

export interface GivenLines {
  session?: string;
  agent?: string;
  /** As `sessions.export` writes them. */
  lines: readonly (object & { timestamp: string })[];
}

export function importLines(
  parts: ImportLinesParts,
  given: GivenLines,
): Promise<{ session: SessionKey; imported: number; skipped: number }> {
  const { lines } = given;
  const ends = hash([given.session, lines.length, lines[0], lines.at(-1)]);
  return guardedImport(parts.guard, workKeys.importedSession(ends), async () => {
    // Where it goes is the caller's to say, never the file's: its lines would end up in somebody's conversation.
    const named = given.session === undefined ? undefined : agentInSession(given.session);
    const agent = given.agent ?? named ?? parts.defaultAgent();
    if (!parts.agentExists(asId<AgentId>(agent))) throw unknownAgent(agent);
    // The same lines again are the same session.
    const session = asId<SessionKey>(given.session ?? sessionKeys.imported(agent, "lares", hash(lines).slice(0, 20)));
    const entries = lines.map(({ timestamp, ...rest }) => ({ ...rest, at: Date.parse(timestamp) }));
    return { session, ...(await parts.sessions.import({ session, agent }, entries as HistoryEntry[])) };
  });
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
