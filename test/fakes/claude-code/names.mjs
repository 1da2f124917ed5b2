/**
 * Which recorded run begins with this message.
 *
 * Documentation: see claude.mjs
 */
export function transcriptName(text, isResumed) {
  if (text === undefined) return isResumed ? "no-such-conversation.jsonl" : "nothing-said.jsonl";
  const words = text
    .replace(/[^a-z0-9]+/gi, "-")
    .replace(/^-|-$/g, "")
    .toLowerCase()
    .slice(0, 60);
  return `${words}${isResumed ? "-resumed" : ""}.jsonl`;
}
