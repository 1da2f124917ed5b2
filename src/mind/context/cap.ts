/**
 * Tool results may not fill the window: together those of one reply take at most a share of it. What is longer is kept whole in a
 * file the agent can read, and only its beginning and its end are shown, with the file's name.
 *
 * CONTEXT-11: short results keep all they have; the long ones share the rest alike.
 * CONTEXT-12: the same results give the same text and the same files, so a repeated step changes nothing.
 */
import { writeBelow } from "../../core/files/index.ts";
import { clip, textTokens } from "./tokens.ts";

/** Less than this is no result any more, however many there are. */
const LEAST = 120;
/** Of what is shown, for the end: there errors and sums stand. */
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

/** The most each may have, so that together they take at most `most`. */
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
      ? `The whole is in ${file}; search it, or go on with read ${JSON.stringify({ path: file, offset: line })}`
      : "The whole could not be kept.";
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

/** Never through a link, the folder's neither: the agent can put one there. */
async function keep(root: string, path: string, content: string): Promise<boolean> {
  try {
    await writeBelow({ root, path, content, tag: path, mode: 0o600, links: "refuse" });
    return true;
  } catch {
    // A full disk, or a link in the way, must not lose the turn; the text then says that the whole is gone.
    return false;
  }
}
