/**
 * Ends a streamed text before the first stop word. Providers that know stop words do this themselves; for the others it is done
 * here, so that the setting means the same everywhere. What could be the beginning of a stop word is held back until it is known.
 */
export class StopWords {
  private readonly words: readonly string[];
  private held = "";
  private stopped = false;

  constructor(words: readonly string[]) {
    this.words = words;
  }

  get hasStopped(): boolean {
    return this.stopped;
  }

  /** What may be said after this piece. Nothing once a stop word has come. */
  take(piece: string): string {
    if (this.stopped) return "";
    const text = this.held + piece;
    const at = this.words.map((word) => text.indexOf(word)).filter((found) => found >= 0);
    if (at.length) {
      this.stopped = true;
      this.held = "";
      return text.slice(0, Math.min(...at));
    }
    const keep = this.beginning(text);
    this.held = keep ? text.slice(-keep) : "";
    return keep ? text.slice(0, -keep) : text;
  }

  /** What was held back and turned out to be ordinary text. */
  rest(): string {
    const text = this.held;
    this.held = "";
    return text;
  }

  /** How many characters at the end could be the beginning of a stop word. */
  private beginning(text: string): number {
    const most = Math.max(...this.words.map((word) => word.length)) - 1;
    for (let n = Math.min(most, text.length); n > 0; n--) {
      if (this.words.some((word) => word.startsWith(text.slice(-n)))) return n;
    }
    return 0;
  }
}
