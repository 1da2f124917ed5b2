/**
 * From Lares' events and records to ACP's updates. Pure: what was said before is the session's business.
 *
 * | event | becomes |
 * | --- | --- |
 * | `turn.delta`, `turn.discarded` | agent_message_chunk, each word once (chat/streamed-text.ts) |
 * | `turn.thinking` | agent_thought_chunk, the same way |
 * | `tool.call`, `tool.progress`, `tool.result` | tool_call, tool_call_update |
 * | `turn.parked`, `turn.ended` | the records are read: a permission request, or the prompt's end |
 * | `approval.answered` | the question is over, no matter who answered |
 * | `session.changed` | the session is read again: its mode, model and title |
 * | everything else | nothing an editor shows |
 */
import { assertNever, type LiveEvent } from "../../../core/domain/index.ts";
import type { HistoryMessage } from "../../../core/protocol/index.ts";
import { isChange, type ModelCall, resultContent, showCall } from "./calls.ts";
import type { SessionUpdate, StopReason } from "./wire.ts";

export type Meaning = "text" | "thought" | "tool" | "records" | "answer" | "session" | "nothing";

/** What the bridge does about each event. A new event doesn't compile until it is decided here. */
export const MEANINGS: Readonly<Record<LiveEvent["event"], Meaning>> = {
  "turn.accepted": "nothing",
  "turn.started": "nothing",
  "turn.step": "nothing",
  "turn.answering": "nothing",
  "turn.delta": "text",
  "turn.thinking": "thought",
  "turn.discarded": "text",
  "turn.retrying": "nothing",
  "turn.parked": "records",
  "turn.ended": "records",
  "tool.call": "tool",
  "tool.progress": "tool",
  "tool.result": "tool",
  // Comes with turn.parked, which says that it is durable.
  "approval.asked": "nothing",
  "approval.answered": "answer",
  "approval.reminded": "nothing",
  delivery: "nothing",
  "session.changed": "session",
  "board.changed": "nothing",
  "schedule.fired": "nothing",
  "channel.status": "nothing",
  "channel.knock": "nothing",
  "config.changed": "nothing",
  "memory.changed": "nothing",
  "team.post": "nothing",
  log: "nothing",
};

/** A call that begins to run. `isKnown`: it was announced before, when permission was asked for. */
export function callStarted(call: ModelCall, folder: string, isKnown: boolean): SessionUpdate {
  if (isKnown) return { sessionUpdate: "tool_call_update", toolCallId: call.id, status: "in_progress" };
  return { sessionUpdate: "tool_call", status: "in_progress", ...showCall(call, folder) };
}

/** A diff stays in view: the result of a change says only that it was made. */
export function callEnded(
  result: { id: string; text: string; isError?: boolean | undefined },
  hasDiff = false,
): SessionUpdate {
  const status = result.isError ? "failed" : "completed";
  const content = hasDiff && !result.isError ? {} : { content: resultContent(result.text) };
  return { sessionUpdate: "tool_call_update", toolCallId: result.id, status, ...content };
}

/** A stored message as the updates that would have shown it. */
export function replay(message: HistoryMessage, folder: string): SessionUpdate[] {
  const chunk = (sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk", text: string) =>
    text ? [{ sessionUpdate, content: { type: "text" as const, text } }] : [];
  return message.content.flatMap((part): SessionUpdate[] => {
    switch (part.type) {
      case "text":
        // Lares' own line before a message is for models.
        if (part.ours) return [];
        if (part.file) return chunk("user_message_chunk", `[${part.file.name}]`);
        return chunk(message.role === "user" ? "user_message_chunk" : "agent_message_chunk", part.text);
      case "image":
        return chunk("user_message_chunk", `[${part.name}]`);
      case "thinking":
        return chunk("agent_thought_chunk", part.text);
      case "tool-call":
        return [{ sessionUpdate: "tool_call", status: "pending", ...showCall(part, folder) }];
      case "tool-result":
        return part.notRun === "waiting"
          ? []
          : [callEnded({ ...part, isError: part.isError || part.notRun !== undefined }, isChange(part.name))];
      default:
        return assertNever(part);
    }
  });
}

export interface TurnEnd {
  state: string;
  failure?: string | undefined;
  reason?: string | undefined;
}

/** How a turn's end answers the prompt; nothing: as an error, with the reason. */
export function toStopReason({ state, failure }: TurnEnd): StopReason | undefined {
  if (state === "stopped") return "cancelled";
  if (failure === "limit") return "max_turn_requests";
  return state === "failed" || state === "attention" ? undefined : "end_turn";
}
