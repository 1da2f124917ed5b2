/**
 * Keeps tool results from filling the window: together, those of one reply take at most a share of it. A longer one is saved in
 * full in a file the agent can read, and only its beginning and end are shown, with the file's name.
 *
 * CONTEXT-11: short results stay whole; the long ones share the rest equally.
 * CONTEXT-12: the same results produce the same text and the same files, so repeating the step changes nothing.
 */
import { writeBelow } from "../../core/files/index.ts";
import { clip, textTokens } from "./tokens.ts";

/** A result cut shorter than this is useless, however many there are. */
const LEAST = 120;
/** The share of the shown text taken from the end, where errors and totals usually are. */
const TAIL_SHARE = 0.3;

export async function capResults<T extends { id: string; text: string }>(
  results: readonly T[],
  most: number,
  place: { root: string; dir: string; key: string },
): Promise<T[]> {
  const sizes = results.map((result) => textTokens(result.text));
  const share = fairShare(sizes, most);
  return Promise.all(
    results.map(async (result, i) => {
      if (sizes[i]! <= share) return result;
      const name = `${place.key}-${result.id}`.replace(/[^\w-]/g, "_").slice(-100);
      const kept = await keep(place.root, `${place.dir}/${name}.txt`, result.text);
      return { ...result, text: shortened(result.text, share, kept ? `${place.dir}/${name}.txt` : undefined) };
    }),
  );
}

/** The most each may take so that together they take at most `most`. */
export function fairShare(sizes: readonly number[], most: number): number {
  const rising = sizes.toSorted((a, b) => a - b);
  let left = most;
  for (const [i, size] of rising.entries()) {
    const share = Math.floor(left / (rising.length - i));
    if (size > share) return Math.max(share, LEAST);
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

function shortened(text: string, tokens: number, file: string | undefined): string {
  const where = (line: number) =>
    file
      ? `The full text is in ${file}; search it, or go on with read ${JSON.stringify({ path: file, offset: line })}`
      : "The full text couldn't be saved.";
  const note = (line: number) => `\n[… shortened: ${text.length} characters, more than fits here. ${where(line)}]\n`;
  const room = Math.max(tokens - textTokens(note(text.length)), 40);
  const tail = Math.floor(room * TAIL_SHARE);
  const end = reversed(clip(reversed(text.slice(-tail * 4)), tail));
  const head = clip(text, room - tail);
  return head + note(head.split("\n").length) + end;
}

function reversed(text: string): string {
  return [...text].reverse().join("");
}

/** Never writes through a link, not even the folder's: the agent could put one there. */
async function keep(root: string, path: string, content: string): Promise<boolean> {
  try {
    await writeBelow({ root, path, content, tag: path, mode: 0o600, links: "refuse" });
    return true;
  } catch {
    // A full disk, or a link in the way, must not fail the turn; the text then says that the full result couldn't be saved.
    return false;
  }
}
