/**
 * Messages that people had forgotten. The records keep them, so that a conversation can still be read and a turn replayed; what
 * a model is sent has a mark in their place. Pure.
 *
 * CONTEXT-21: a forgotten message is in no later request, summary or carry-over. The turn that was asked to forget still reads its
 * own messages, because they hold the rest of what it was asked.
 */
import { assertNever, type ModelMessage } from "../../core/domain/index.ts";
import type { Carry } from "./carry.ts";

const FORGOTTEN = "[Forgotten at the person's request. Do not guess what stood here.]";

/** The same message without what it said. Calls and results stay paired, which providers insist on. */
export function masked(message: ModelMessage): ModelMessage {
  const mark = { type: "text" as const, text: FORGOTTEN };
  switch (message.role) {
    case "user": {
      const envelope = message.content.filter((part) => part.type === "text" && part.ours);
      return { role: "user", content: [...envelope, mark] };
    }
    case "assistant": {
      const calls = message.content.flatMap((part) => (part.type === "tool-call" ? [{ ...part, input: {} }] : []));
      const spoke = message.content.some((part) => part.type === "text");
      return { role: "assistant", content: [...(spoke || calls.length === 0 ? [mark] : []), ...calls] };
    }
    case "tool":
      return {
        role: "tool",
        content: message.content.map(({ type, id, name }) => ({ type, id, name, text: FORGOTTEN })),
      };
    default:
      return assertNever(message);
  }
}

/** The carry-over without the sentences and list items that mention it. */
export function withoutMentions(carry: Carry, mentions: (text: string) => boolean): Carry {
  const without = (items: readonly string[]) => items.filter((item) => !mentions(item));
  return {
    ...carry,
    asked: mentions(carry.asked) ? "" : carry.asked,
    // Line by line, then sentence by sentence: a summary has both.
    prose: carry.prose
      .split("\n")
      .map((line) => without(line.split(/(?<=[.!?])\s+/)).join(" "))
      .join("\n")
      .trim(),
    requests: without(carry.requests),
    decisions: without(carry.decisions),
    facts: without(carry.facts),
    identifiers: without(carry.identifiers),
    files: without(carry.files),
    calls: without(carry.calls),
  };
}
