/** Where the answers of slash commands come from; how they are worded is in words.ts. */

import type { Models } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  type ApprovalView,
  type InboundMessage,
  type ReplyRoute,
  type SessionKey,
  type TurnId,
} from "../../core/domain/index.ts";
import type { CommandParts } from "./commands.ts";
import {
  type CompactedSession,
  compactedInWords,
  modelInUse,
  NOTHING_TO_COMPACT,
  NOTHING_TO_EXPORT,
  statusInWords,
  type UsedUp,
  undone,
  usageInWords,
} from "./words.ts";

/** What the answers are made from. */
export interface AnswerParts extends Pick<CommandParts, "called" | "schedules" | "timezone" | "memory"> {
  models: Pick<Models, "info" | "list" | "primary">;
  /** What the session asks for afterwards. */
  tune(
    ...given: Parameters<CommandParts["tune"]>
  ): Promise<{ model?: string | null | undefined; thinking?: string | null | undefined }>;
  compactions: {
    undo(session: SessionKey): Promise<{ messages: number }>;
    /** Nothing when it goes on in the background. */
    ask(session: SessionKey, agent: AgentId, focus: string | null): Promise<CompactedSession | undefined>;
  };
  /** Throws NOT_FOUND when there is no such session yet. */
  session(session: SessionKey): Promise<{ agent: string; messages: number }>;
  usage(session: SessionKey): Promise<UsedUp>;
  agentNames(): readonly string[];
}

type Told = Pick<
  CommandParts,
  "tune" | "compact" | "usage" | "agents" | "schedules" | "timezone" | "memory" | "exported"
>;

/** Platforms give the time of a message in whole seconds. */
const CLOCK_GRAIN_MS = 1000;

/** The open questions of a chat, when the newest thing said there is one of them and the message came after it. */
export async function justAsked(
  asked: {
    pendingIn(route: ReplyRoute): Promise<ApprovalView[]>;
    /** Whether nothing else was said in this chat since. */
    onlyAsked(
      route: ReplyRoute,
      approvals: readonly string[],
      when: { since: number; saidAt: number },
    ): Promise<boolean>;
  },
  { route, about }: InboundMessage,
): Promise<ApprovalView[]> {
  const open = await asked.pendingIn(route);
  const newest = open.at(-1);
  if (!newest) return [];
  const saidAt = about?.saidAt === undefined ? Number.POSITIVE_INFINITY : about.saidAt + CLOCK_GRAIN_MS;
  const newer = open.filter((one) => one.askedAt === newest.askedAt).map((one) => one.id);
  return (await asked.onlyAsked(route, newer, { since: newest.askedAt, saidAt })) ? open : [];
}

export function commandAnswers(parts: AnswerParts): Told {
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
      const set = await parts.tune(at, change);
      const model = set.model ?? models.primary().id;
      return modelInUse({ model, isDefault: !set.model, thinking: set.thinking ?? "off" });
    },
    async compact(session, focus) {
      if (/^undo$/i.test(focus)) {
        const { messages } = await parts.compactions.undo(session);
        return undone(messages);
      }
      const found = await existing(parts, session);
      if (!found) return NOTHING_TO_COMPACT;
      const agent = found.agent as AgentId;
      return compactedInWords(await parts.compactions.ask(session, agent, focus || null));
    },
    usage: async (session) => usageInWords(await parts.usage(session)),
    agents: async () => parts.agentNames().join("\n"),
    schedules: parts.schedules,
    timezone: parts.timezone,
    memory: parts.memory,
    async exported(session: SessionKey) {
      const { messages } = (await existing(parts, session)) ?? { messages: 0 };
      if (messages === 0) return NOTHING_TO_EXPORT;
      return parts.called(`${messages} messages. As a file: lares sessions export "${session}" -o conversation.jsonl`);
    },
  };
}

/** The first message of a conversation can be a command: then there is no session yet. */
function existing(parts: Pick<AnswerParts, "session">, key: SessionKey) {
  return parts.session(key).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "NOT_FOUND") return undefined;
    throw error;
  });
}

/** What `/status` says. */
export async function describeSession(
  parts: {
    openTurns(session: SessionKey): Promise<number>;
    waiting(session: SessionKey): Promise<readonly { tool: string; code: string }[]>;
    running(session: SessionKey): TurnId | undefined;
    models: Pick<Models, "primary">;
  },
  session: SessionKey,
): Promise<string> {
  const open = await parts.openTurns(session);
  const waiting = await parts.waiting(session);
  const isRunning = parts.running(session) !== undefined;
  return statusInWords({ isRunning, open, waiting, model: parts.models.primary() });
}
