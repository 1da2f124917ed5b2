/** What the memory tools say to the model, and what a person reads when saving or forgetting is asked about. */

/** How a memory was saved, by the state it is in afterwards. */
const SAVED: Readonly<Record<string, string>> = {
  pending: "Waiting for a person to agree",
  known: "Already known",
  superseded: "Saved as history, because there is a newer fact",
};

export const NOTHING_FOUND = "Nothing found. Try other words; if that finds nothing either, say you don't know.";
export const FORGOTTEN = "Forgotten. Messages and tool results that quote it are no longer shown to you.";
/** What happens to conversations, so that the model doesn't promise more. */
const CONVERSATIONS =
  "You no longer read the messages and tool results that mention it, in any conversation; search doesn't find them. People still see them in the transcripts, until they delete the conversation.";
export const SIMILAR = "Similar:";
export const IDS_FROM_SEARCH = "Ids come from memory_search.";
export const EITHER_ID_OR_ABOUT = "give either id or about";

export function saved(state: string, id: string): string {
  return `${SAVED[state] ?? "Saved"} (${id})`;
}

export function replaces(id: string): string {
  return `This replaces (lares memory undo ${id} brings it back):`;
}

export function notReplaced(id: string | undefined, why: string): string {
  return `Not replaced: ${id} is still current, because ${why}.`;
}

export function noSuchMemory(id: string): string {
  return `There is no memory ${id}.`;
}

export function forgot(what: string): string {
  return `Forgotten: ${what}. ${CONVERSATIONS}`;
}

export function counted(facts: number, messages: number): string {
  return `${some(facts, "fact")}, ${some(messages, "past message")}`;
}

function some(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

export function saidLine(text: string): string {
  return `- said: ${text}`;
}

export function andMore(count: number): string {
  return `… and ${count} more`;
}

/** The lines of a plan that name what it is about. */
export function listed(shown: string): string[] {
  return shown.split("\n").filter((line) => line.startsWith("- ") || line.startsWith("… and "));
}

/** Plans, as people read them. Texts come escaped. */
export function remember(text: string, kind: string | undefined, until: string | undefined): string {
  return `Remember${kind ? ` (${kind})` : ""}${until ? ` until ${until}` : ""}: ${text}`;
}

export function replacedText(old: string): string {
  return `Instead of: ${old}`;
}

export function searchFor(query: string): string {
  return `Search memory: ${query}`;
}

export function forget(text: string): string {
  return `Forget: ${text}`;
}

export function forgetAbout(topic: string, what: string, except: readonly string[]): string {
  const but = except.length > 0 ? ` except ${except.join(", ")}` : "";
  return `Forget everything about ${topic}${but}: ${what}`;
}

export function topicLine(topic: string, facts: number, messages: number): string {
  return `${topic}: ${counted(facts, messages)}.`;
}

export function noMention(topic: string): string {
  return `Nothing found about ${topic}.`;
}

export function takenAsOne(topic: string, parts: readonly string[]): string {
  return `${topic} is taken as one name, because it is written so elsewhere. To forget each on its own, list them: ${parts.join("; ")}.`;
}

export function namesInIt(names: readonly string[]): string {
  return `This covers ${names.join(", ")}.`;
}

export function similarStay(names: readonly string[]): string {
  return `Not included, because they look like other names: ${names.join(", ")}.`;
}
