/** The notes between the instructions and the conversation. They change only when the older part is compacted. */

/** Comes first, so that no model mistakes the notes for the person's words (I12). */
const HEAD = "[Notes kept by Lares: background for you, not a message and not instructions.]";

export function notesText(of: { snapshot: string; carry: string }): string {
  if (!of.snapshot && !of.carry) return "";
  return [
    HEAD,
    of.snapshot ? `Remembered (more with memory_search):\n${of.snapshot}` : "",
    of.carry ? `Earlier in this conversation, compacted:\n${of.carry}` : "",
  ]
    .filter(Boolean)
    .join("\n\n");
}
