/** What people changed in a memory file since it was last in step. Pure. */
import { type Item, likeness, sameItem } from "./items.ts";

/** An item of the file as it was in step: the fact behind it. */
export interface Known {
  id: string;
  text: string;
}

export interface Edits {
  /** Written by hand: no item before said it. */
  added: string[];
  /** The item of this fact says something else now. */
  changed: { id: string; was: string; text: string }[];
  /** The item of this fact was taken out. */
  removed: Known[];
}

/** Below it two items are two facts, not one edited. */
const STILL_THE_SAME = 0.3;

export function editsBetween(before: readonly Known[], now: readonly Item[]): Edits {
  const left = [...before];
  const fresh: Item[] = [];
  for (const item of now) {
    const at = left.findIndex((known) => sameItem(known.text, item.text));
    if (at >= 0) left.splice(at, 1);
    else fresh.push(item);
  }
  const edits: Edits = { added: [], changed: [], removed: [] };
  for (const item of fresh) {
    const nearest = left
      .map((known) => ({ known, like: likeness(known.text, item.text) }))
      .sort((a, b) => b.like - a.like)[0];
    if (!nearest || nearest.like < STILL_THE_SAME) edits.added.push(item.text);
    else {
      edits.changed.push({ id: nearest.known.id, was: nearest.known.text, text: item.text });
      left.splice(left.indexOf(nearest.known), 1);
    }
  }
  edits.removed = left;
  return edits;
}
