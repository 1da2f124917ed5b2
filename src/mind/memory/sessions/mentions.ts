/**
 * What a conversation has about something that is forgotten: not only what was said, which the index knows, but also what tools
 * were called with and what they answered.
 */
export interface Mention {
  /** Whether a text is about it. */
  mentions: (text: string) => boolean;
  /**
   * Lower-case ASCII that the stored form of such a message has in it, so that the database can sort out most of the others. A
   * message with other characters is always looked at: there a name may have an accent, or something unseen in the middle.
   */
  needles: readonly string[];
}

const LEAST_NEEDLE = 2;
/** Texts that quote this verbatim. */
export function mentionsText(quoted: string): Mention {
  const sought = quoted.trim();
  // As JSON has it, up to the first character that is escaped there.
  return { mentions: (text) => text.includes(sought), needles: longestAscii(sought.toLowerCase()) };
}

function longestAscii(text: string): string[] {
  const runs = text.match(/[ !#-[\]-~]+/g) ?? [];
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), "");
  return longest.length >= LEAST_NEEDLE ? [longest] : [];
}

interface Part {
  type: string;
  text?: string;
  input?: unknown;
  ours?: true;
}

/** Everything a message holds that a model reads, without Lares' own line before it. */
export function wholeText(content: string): string {
  return (JSON.parse(content) as readonly Part[])
    .filter((part) => !part.ours)
    .map((part) => [part.text ?? "", ...textsIn(part.input)].join("\n"))
    .join("\n");
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
