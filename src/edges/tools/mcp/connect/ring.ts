/** The last of what a program complained about, in bounded memory. */
import { withoutHidden } from "../../../../core/kit/index.ts";

const MOST_BYTES = 65_536;
/** That are shown, unless somebody asks for more. */
export const MOST_LINES = 200;

export class TextRing {
  #pieces: Buffer[] = [];
  #held = 0;

  readonly #most: number;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  add(piece: Buffer): void {
    // A copy: a slice would keep the whole of what was read alive.
    const kept = Buffer.from(piece.length > this.#most ? piece.subarray(piece.length - this.#most) : piece);
    this.#pieces.push(kept);
    this.#held += kept.length;
    while (this.#held > this.#most && this.#pieces.length > 1) this.#held -= this.#pieces.shift()!.length;
  }

  /** Whole lines, the newest last. */
  lines(most = MOST_LINES): string[] {
    const text = withoutHidden(Buffer.concat(this.#pieces).toString("utf8"));
    return text.split("\n").filter(Boolean).slice(-most);
  }
}
