/** What slash commands answer, in words. */

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
    ask(session: SessionKey, agent: AgentId, focus: string | null): Promise<Compacted | undefined>;
  };
  /** Throws NOT_FOUND when there is no such session yet. */
  session(session: SessionKey): Promise<{ agent: string; messages: number }>;
  usage(session: SessionKey): Promise<{
    calls: number;
    inputTokens: number;
    outputTokens: number;
    cacheReadTokens: number;
    cacheWriteTokens: number;
    cost: number | null;
    unknownPrice: number;
  }>;
  agentNames(): readonly string[];
}

type Compacted =
  | { made: false }
  | { made: true; how: "summary" | "extract" | "mixed"; messages: number; before: number; after: number };

type Told = Pick<
  CommandParts,
  "tune" | "compact" | "usage" | "agents" | "schedules" | "timezone" | "memory" | "exported"
>;

const NOTHING_TO_COMPACT = "Nothing to compact here yet.";

const COMPACTED_HOW = {
  extract: "by rules, without a model",
  mixed: "partly by rules",
  summary: "by a model",
} as const;

export function compactedInWords(done: Compacted | undefined): string {
  if (!done) return "Still compacting in the background.";
  if (!done.made) return NOTHING_TO_COMPACT;
  return `Compacted ${done.messages} older messages (${COMPACTED_HOW[done.how]}): ${done.before} → ${done.after} tokens. They stay in the history; /compact undo brings them back for the model.`;
}

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
      return `Using ${model}${set.model ? "" : " (the default)"}; thinking ${set.thinking ?? "off"}.`;
    },
    async compact(session, focus) {
      if (/^undo$/i.test(focus)) {
        const { messages } = await parts.compactions.undo(session);
        return `Undone: the model sees ${messages} messages in full again.`;
      }
      const found = await existing(parts, session);
      if (!found) return NOTHING_TO_COMPACT;
      const agent = found.agent as AgentId;
      return compactedInWords(await parts.compactions.ask(session, agent, focus || null));
    },
    async usage(session) {
      const u = await parts.usage(session);
      const money = priceInWords(u.cost, u.unknownPrice);
      const read = u.inputTokens + u.cacheReadTokens + u.cacheWriteTokens;
      return `${u.calls} model ${u.calls === 1 ? "call" : "calls"}, ${read} tokens in (${u.cacheReadTokens} from cache), ${u.outputTokens} out, ${money}.`;
    },
    agents: async () => parts.agentNames().join("\n"),
    schedules: parts.schedules,
    timezone: parts.timezone,
    memory: parts.memory,
    async exported(session: SessionKey) {
      const { messages } = (await existing(parts, session)) ?? { messages: 0 };
      if (messages === 0) return "Nothing to export here yet.";
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

function calls(n: number): string {
  return n === 1 ? "1 call" : `${n} calls`;
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
  const model = parts.models.primary();
  return [
    parts.running(session) ? "Working on your message." : "Idle.",
    open > 1 ? `${open} messages are open.` : "",
    ...waiting.map((a) => `Waiting for you: ${a.tool} (${a.code}).`),
    `Model: ${model.id}${model.practice ? " (practice, not a language model)" : ""}.`,
  ]
    .filter(Boolean)
    .join("\n");
}

/** `unknownPrice`: calls whose price nobody knows. */
function priceInWords(cost: number | null, unknownPrice: number): string {
  if (cost === null) return "price unknown";
  if (unknownPrice > 0) return `$${cost.toFixed(4)}, unknown for ${calls(unknownPrice)}`;
  return cost === 0 ? "free" : `$${cost.toFixed(4)}`;
}
