/**
 * An answer of any length as a bounded number of messages, in bounded time: a platform takes a few messages a minute, and nobody
 * reads a hundred of them. A model, or a page it quotes, decides how long an answer is.
 *
 * RENDER-5: at most `most` parts. When that isn't enough, the middle is left out and a part says so; the end is sent, because a question
 *     has its code there. The whole answer stays in the conversation.
 */
import { type ChunkOptions, chunks } from "./chunks.ts";
import type { DialectName, Part } from "./dialect.ts";
import { openFence } from "./parse.ts";

/** About what 40,000 characters take on the platforms with the smallest messages. */
export const MOST_PARTS = 30;
/** Twelve printed pages. No more than this is rendered; it takes about 0.1 s even for text crafted to be slow. */
export const MOST_CHARACTERS = 40_000;
/** How much of the end is rendered; its last part is sent. */
const END_CHARACTERS = 1000;

export function boundedChunks(markdown: string, name: DialectName, given: ChunkOptions = {}): Part[] {
  const { most = MOST_PARTS, ...options } = given;
  if (markdown.length <= MOST_CHARACTERS) {
    const parts = chunks(markdown, name, { ...options, most: most + 1 });
    if (parts.length <= most) return parts;
  }
  const note = chunks(noteOn(markdown.length), name, options);
  const end = chunks(takeEnd(markdown), name, options).slice(-1);
  const room = Math.max(most - note.length - end.length, 1);
  return [...chunks(takeBeginning(markdown), name, { ...options, most: room }), ...note, ...end];
}

function noteOn(length: number): string {
  const size = length.toLocaleString("en-US");
  return `(This answer has ${size} characters, too many to send here. The middle is left out: read it all on the page, or ask for a shorter answer.)`;
}

function takeBeginning(markdown: string): string {
  if (markdown.length <= MOST_CHARACTERS) return markdown;
  // Less than the bound by more than the end, so that nothing is sent twice.
  const to = MOST_CHARACTERS - 2 * END_CHARACTERS;
  const lineEnd = markdown.lastIndexOf("\n", to);
  return markdown.slice(0, lineEnd > to / 2 ? lineEnd : to);
}

/** From the start of a line where there is one; inside a code block, with the block opened again. */
function takeEnd(markdown: string): string {
  const from = Math.max(markdown.length - END_CHARACTERS, 0);
  const lineStart = markdown.indexOf("\n", from) + 1;
  const start = lineStart > 0 && lineStart < markdown.length ? lineStart : from;
  const fence = openFence(markdown.slice(0, start));
  return fence === undefined ? markdown.slice(start) : `${fence}\n${markdown.slice(start)}`;
}
