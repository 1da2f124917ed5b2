/**
 * Makes any slice of history acceptable to every provider. Pure.
 *
 * CONTEXT-15: each tool call is followed by exactly its results; a call without one gets "no result was recorded".
 * CONTEXT-16: a result without its call (the window starts in the middle) is left out.
 * CONTEXT-17: neighbouring user messages stay separate messages; the first message is a user's. With `led`, the notes come first,
 * so they may start with the agent's.
 */
import type { ModelMessage, ToolCallPart, ToolResultPart } from "../../core/domain/index.ts";

const NO_RESULT = "No result was recorded for this call. It may or may not have run.";

export function wellFormed(messages: readonly ModelMessage[], led = false): ModelMessage[] {
  const out: ModelMessage[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === "tool") continue;
    if (message.role === "user" || out.length > 0 || led) out.push(message);
    else continue;
    if (message.role !== "assistant") continue;
    const calls = message.content.filter((part): part is ToolCallPart => part.type === "tool-call");
    if (!calls.length) continue;
    const next = messages[i + 1];
    out.push(next?.role === "tool" && answersAll(calls, next.content) ? next : repaired(calls, next));
  }
  return out;
}

function answersAll(calls: ToolCallPart[], results: ToolResultPart[]): boolean {
  return results.length === calls.length && calls.every((call, i) => results[i]!.id === call.id);
}

function repaired(calls: ToolCallPart[], next: ModelMessage | undefined): ModelMessage {
  const results = next?.role === "tool" ? next.content : [];
  return {
    role: "tool",
    content: calls.map(
      (call) =>
        results.find((r) => r.id === call.id) ?? {
          type: "tool-result",
          id: call.id,
          name: call.name,
          text: NO_RESULT,
          isError: true,
        },
    ),
  };
}
