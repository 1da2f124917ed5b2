/**
 * Tools that end a turn without a word. They are no tools of the registry: a call of one is the turn's own business. Silence is a
 * recorded decision, never a magic word in a text that could leak.
 */
import type { JsonObject } from "./json.ts";

export type EndingTool = "stay_silent" | "nothing_to_report";

export const ENDING_TOOLS: Readonly<Record<EndingTool, { name: EndingTool; description: string; input: JsonObject }>> =
  {
    stay_silent: {
      name: "stay_silent",
      description:
        "End this turn without sending anything to the group. Use it when nobody addressed you and you have nothing that is needed. Call it alone, instead of an answer.",
      input: {
        type: "object",
        properties: {
          reason: { type: "string", description: "a few words for the owner's record; nobody in the group sees them" },
        },
      },
    },
    nothing_to_report: {
      name: "nothing_to_report",
      description:
        "End this run without sending anything, after you looked and found nothing worth a message. It is refused before you have used another tool. Call it alone, instead of an answer.",
      input: {
        type: "object",
        properties: {
          reason: { type: "string", description: "a few words for the owner's record: what you looked at" },
        },
      },
    },
  };

export function isEndingTool(name: string): name is EndingTool {
  return Object.hasOwn(ENDING_TOOLS, name);
}
