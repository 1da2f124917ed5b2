import { isSmall, paragraph, type Situation, section } from "../situation.ts";

/** When to search memory and when to save to it. */
export function remembering(situation: Situation): string {
  const { kind, tools } = situation;
  if (kind === "api" || isSmall(situation)) return "";
  return section(
    "Memory",
    paragraph(
      tools,
      {
        text: "Use `memory_search` before you speak of the past or say you don't know; if nothing turns up, say that.",
        needs: ["memory_search"],
      },
      {
        text: "Use `memory_save` when you're asked to remember, are corrected, or learn a lasting preference, person, date or decision: one sentence, a fact and not an order, with absolute dates. Leave out secrets, what matters only today, progress, and what files already say.",
        needs: ["memory_save"],
      },
      {
        text: "Lares also picks facts out of conversations by itself.",
        needs: ["memory_save"],
      },
    ),
  );
}
