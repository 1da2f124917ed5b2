/** What people changed in a memory file since it was last in step. Pure. */
import { normaliseSaying, sharedWords, type ViewItem, wordsIn } from "./items.ts";

/** An item of the file as it was in step: the fact behind it. */
export interface KnownFact {
  id: string;
  text: string;
}

export interface Edits {
  /** Written by hand: no item before said it. */
  added: string[];
  /** The item of this fact says something else now. */
  changed: { id: string; was: string; text: string }[];
  /** The item of this fact was taken out. */
  removed: KnownFact[];
}

/** Below it two items are two facts, not one edited. */
const STILL_THE_SAME = 0.3;
/** Words compared to find which item an edited one was: far more than people edit, and a fraction of a second. */
const MOST_COMPARED = 200_000;

export function editsBetween(before: readonly KnownFact[], now: readonly ViewItem[]): Edits {
  const { left, fresh } = withoutSame(before, now);
  const edits: Edits = { added: [], changed: [], removed: [] };
  const words = new Map<KnownFact, ReadonlySet<string>>();
  const readWords = (known: KnownFact) => {
    const found = words.get(known) ?? wordsIn(known.text);
    words.set(known, found);
    return found;
  };
  let budget = MOST_COMPARED;
  for (const item of fresh) {
    const own = budget > 0 ? wordsIn(item.text) : new Set<string>();
    budget -= left.size * Math.max(own.size, 1);
    let nearest: { known: KnownFact; like: number } | undefined;
    for (const known of budget > 0 ? left : []) {
      const like = sharedWords(own, readWords(known));
      if (like > (nearest?.like ?? -1)) nearest = { known, like };
    }
    if (!nearest || nearest.like < STILL_THE_SAME) edits.added.push(item.text);
    else {
      edits.changed.push({ id: nearest.known.id, was: nearest.known.text, text: item.text });
      left.delete(nearest.known);
    }
  }
  edits.removed = [...left];
  return edits;
}

/** What is in one of both only; of several that say the same the first ones belong together. */
function withoutSame(
  before: readonly KnownFact[],
  now: readonly ViewItem[],
): { left: Set<KnownFact>; fresh: ViewItem[] } {
  const bySaying = new Map<string, KnownFact[]>();
  for (const known of before.toReversed()) {
    const saying = normaliseSaying(known.text);
    bySaying.set(saying, bySaying.get(saying) ?? []);
    bySaying.get(saying)!.push(known);
  }
  const left = new Set(before);
  const fresh = now.filter((item) => {
    const known = bySaying.get(normaliseSaying(item.text))?.pop();
    if (known) left.delete(known);
    return !known;
  });
  return { left, fresh };
}
