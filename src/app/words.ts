/** What slash commands answer, in words. */

import type { Models, Records } from "../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  type ApprovalView,
  type InboundMessage,
  type SessionKey,
} from "../core/domain/index.ts";
import type { Approvals } from "../flow/approvals/index.ts";
import type { CommandParts } from "../flow/commands/index.ts";
import type { Outbox } from "../flow/outbox/index.ts";
import type { SessionSummary, Sessions } from "../flow/sessions/index.ts";
import { usageOfSession } from "../flow/turns/index.ts";
import type { AgentFolders } from "../mind/agents/index.ts";
import type { Compacted, Compactions, Contexts } from "../mind/context/index.ts";
import { type Schedules, scheduleWords, zoneWords } from "../mind/schedule/index.ts";

export interface WordParts {
  /** Commands in our own words as they work here. */
  called: (text: string) => string;
  records: Records;
  models: Models;
  contexts: Contexts;
  compactions: Compactions;
  sessions: Sessions;
  agents: AgentFolders;
  schedules: () => Schedules;
  recall: CommandParts["memory"];
}

type Told = Pick<
  CommandParts,
  "tune" | "compact" | "usage" | "agents" | "schedules" | "timezone" | "memory" | "exported"
>;

const NOTHING_TO_COMPACT = "Nothing to compact here yet.";

export function compactedInWords(done: Compacted | undefined): string {
  if (!done) return "Still compacting in the background.";
  if (!done.made) return NOTHING_TO_COMPACT;
  const how =
    done.how === "extract" ? "by rules, without a model" : done.how === "mixed" ? "partly by rules" : "by a model";
  return `Compacted ${done.messages} older messages (${how}): ${done.before} → ${done.after} tokens. They stay in the history; /compact undo brings them back for the model.`;
}

/** Platforms give the time of a message in whole seconds. */
const CLOCK_GRAIN_MS = 1000;

/** The open questions of a chat, when the newest thing said there is one of them and the message came after it. */
export async function justAsked(
  { approvals, outbox }: { approvals: Approvals; outbox: Outbox },
  { route, about }: InboundMessage,
): Promise<ApprovalView[]> {
  const open = await approvals.pendingIn(route);
  const newest = open.at(-1);
  if (!newest) return [];
  const saidAt = about?.saidAt === undefined ? Number.POSITIVE_INFINITY : about.saidAt + CLOCK_GRAIN_MS;
  const asked = open.filter((one) => one.askedAt === newest.askedAt).map((one) => one.id);
  return (await outbox.onlyAsked(route, asked, { since: newest.askedAt, saidAt })) ? open : [];
}

/** For strangers: where things lie on this machine is not theirs to know. */
export function withoutPaths(text: string, folders: readonly string[]): string {
  return folders.filter((folder) => folder.length > 1).reduce((said, folder) => said.replaceAll(folder, "…"), text);
}

export function commandWords(parts: WordParts): Told {
  const { models } = parts;
  return {
    async tune(at, change) {
      if (change.model && !models.info(change.model)) {
        throw new AppError("MODEL_UNKNOWN", {
          message: `The model "${change.model}" isn't available here.`,
          hint: `Known: ${models
            .list()
            .map((m) => m.id)
            .join(", ")}.`,
        });
      }
      const set = await parts.contexts.tune(at, change);
      const model = set.model ?? models.primary().id;
      return `Using ${model}${set.model ? "" : " (the default)"}; thinking ${set.thinking ?? "off"}.`;
    },
    async compact(session, focus) {
      if (/^undo$/i.test(focus)) {
        const { messages } = await parts.compactions.undo(session);
        return `Undone: the model sees ${messages} messages in full again.`;
      }
      const found = await existing(parts.sessions, session);
      if (!found) return NOTHING_TO_COMPACT;
      const agent = found.agent as AgentId;
      return compactedInWords(await parts.compactions.ask(session, agent, focus || null));
    },
    async usage(session) {
      const u = await usageOfSession(parts.records, session);
      const known = u.cost === null ? "price unknown" : u.cost === 0 ? "free" : `$${u.cost.toFixed(4)}`;
      const isMixed = u.unknownPrice > 0 && u.cost !== null;
      const money = isMixed ? `$${u.cost!.toFixed(4)}, unknown for ${calls(u.unknownPrice)}` : known;
      const read = u.inputTokens + u.cacheReadTokens + u.cacheWriteTokens;
      return `${u.calls} model ${u.calls === 1 ? "call" : "calls"}, ${read} tokens in (${u.cacheReadTokens} from cache), ${u.outputTokens} out, ${money}.`;
    },
    agents: async () => parts.agents.names().join("\n"),
    schedules: (call) => scheduleWords(parts.schedules(), call, parts.called),
    timezone: (person, args) => zoneWords(parts.schedules(), person, args),
    memory: parts.recall,
    async exported(session: SessionKey) {
      const { messages } = (await existing(parts.sessions, session)) ?? { messages: 0 };
      if (messages === 0) return "Nothing to export here yet.";
      return parts.called(`${messages} messages. As a file: lares sessions export "${session}" -o conversation.jsonl`);
    },
  };
}

/** The first message of a conversation can be a command: then there is no session yet. */
function existing(sessions: Sessions, key: SessionKey): Promise<SessionSummary | undefined> {
  return sessions.get(key).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "NOT_FOUND") return undefined;
    throw error;
  });
}

function calls(n: number): string {
  return n === 1 ? "1 call" : `${n} calls`;
}
