/**
 * How much of a model's answer is taken. The largest honest answers are about 128,000 tokens, half a million characters; on the
 * wire each token is an event of some 300 bytes. Whatever is far beyond that is a fault or an attack, and every byte of it would
 * be held in memory several times over.
 */

/** Code of the error that ends an answer beyond a bound. */
export const TOO_LARGE = "ANSWER_TOO_LARGE";

/** All bytes of one answer, as they come over the wire. */
const MOST_WIRE_BYTES = 64 * 1024 * 1024;
/** One line of a stream. The Responses API repeats the whole answer in its last one. */
const MOST_LINE_BYTES = 8 * 1024 * 1024;
/** What a provider says about a failure. */
export const MOST_ERROR_BYTES = 64 * 1024;
/** Text, thinking and tool input of one answer together. */
export const MOST_CHARACTERS = 4 * 1024 * 1024;
/** Tool calls in one answer. Far fewer are run (`limits.toolCalls`). */
export const MOST_CALLS = 1000;
export function tooLarge(what: string): Error {
  return Object.assign(new Error(what), { code: TOO_LARGE });
}

/** Counts what comes in, byte by byte and line by line. */
export class Meter {
  private bytes = 0;
  private line = 0;

  /** The error to end with when this chunk is too much. */
  excess(chunk: Buffer): Error | undefined {
    this.bytes += chunk.length;
    if (this.bytes > MOST_WIRE_BYTES) return tooLarge(`more than ${megabytes(MOST_WIRE_BYTES)} in one answer`);
    const first = chunk.indexOf(NEWLINE);
    this.line += first < 0 ? chunk.length : first;
    if (this.line > MOST_LINE_BYTES)
      return tooLarge(`more than ${megabytes(MOST_LINE_BYTES)} in one line of the stream`);
    // Lines inside of one chunk are shorter than the chunk, which a socket keeps far below the bound.
    if (first >= 0) this.line = chunk.length - 1 - chunk.lastIndexOf(NEWLINE);
    return undefined;
  }
}

const NEWLINE = 0x0a;

function megabytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MB`;
}
