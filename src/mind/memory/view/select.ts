/** Which facts stand in which file, size-bounded: these words are paid for with every new session. Pure. */
import { factSources, isFileSource, isSelfTopic } from "../../../core/domain/index.ts";
import type { ShownFact } from "./store.ts";

export interface ViewSizes {
  memoryChars: number;
  userChars: number;
}

/** What is worth knowing beforehand, when there is no room for all. */
const WORTH: Record<string, number> = { decision: 3, procedure: 3, project: 3, preference: 3, person: 3, fact: 2 };
const DAY_MS = 86_400_000;
/** A list item longer than this is found by search instead. */
const LONGEST = 400;

function chooseFile(fact: Pick<ShownFact, "kind" | "source" | "topic">): "USER.md" | "MEMORY.md" {
  if (fact.source === factSources.file("USER.md")) return "USER.md";
  if (fact.source === factSources.file("MEMORY.md")) return "MEMORY.md";
  const isAboutOwner = fact.kind === "preference" || fact.kind === "person" || isSelfTopic(fact.topic);
  return isAboutOwner ? "USER.md" : "MEMORY.md";
}

/** In order of adding, so that the file, and with it the prompt, changes little. */
export function chosenFor(
  file: string,
  facts: readonly ShownFact[],
  sizes: ViewSizes,
  order: readonly string[],
): ShownFact[] {
  const room = file === "USER.md" ? sizes.userChars : sizes.memoryChars;
  const newest = facts.at(-1)?.at ?? 0;
  const place = new Map(order.map((id, n) => [id, n]));
  const isByHand = (fact: ShownFact) => isFileSource(fact.source);
  const worth = (fact: ShownFact) => {
    const at = place.get(fact.id);
    const chosen = at === undefined ? 0 : 6 - (4 * at) / Math.max(1, order.length);
    const age = Math.max(0, newest - fact.at) / DAY_MS;
    return chosen + (WORTH[fact.kind] ?? 1) + Math.log2(1 + fact.uses) + (fact.trust === "owner" ? 1 : 0) - age / 60;
  };
  const mine = facts.filter((fact) => chooseFile(fact) === file);
  const ranked = [...mine].sort(
    (a, b) => Number(isByHand(b)) - Number(isByHand(a)) || worth(b) - worth(a) || b.seq - a.seq,
  );
  let used = 0;
  const kept = new Set<string>();
  for (const fact of ranked) {
    // As it is paid for: a letter of another script costs as much as two or three.
    const size = Buffer.byteLength(fact.text) + 3;
    // Lines a person wrote stay regardless of size: only automatically collected facts make room.
    if (!isByHand(fact) && (fact.text.length > LONGEST || used + size > room)) continue;
    used += size;
    kept.add(fact.id);
  }
  return mine.filter((fact) => kept.has(fact.id));
}
