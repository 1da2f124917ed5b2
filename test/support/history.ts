/** Short views of a session's history. */
import type { HistoryMessage } from "../../src/core/protocol/index.ts";

/** Role and text of each message; calls and results are left out. */
export function textsOf(messages: HistoryMessage[]): [string, string][] {
  return messages.flatMap((m) => {
    const text = m.content.map((part) => (part.type === "text" && !part.ours ? part.text : "")).join("");
    return text ? [[m.role, text] as [string, string]] : [];
  });
}

/** Whether the model was told that an outcome is unknown. */
export function unknownIn(messages: HistoryMessage[]): boolean {
  return /Outcome unknown/.test(JSON.stringify(messages));
}
