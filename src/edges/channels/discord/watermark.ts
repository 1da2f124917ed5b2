/**
 * Up to which number everything in a session is durable, while chats are taken side by side. A number that is still open holds
 * back all after it: when the session is resumed from there, Discord repeats them, and they are known by their ids.
 */
export class Watermark {
  private readonly open = new Set<number>();
  private seen: number;

  constructor(from: number) {
    this.seen = from;
  }

  /** A new session counts from its own beginning. */
  restart(from: number): void {
    this.open.clear();
    this.seen = from;
  }

  begin(seq: number): void {
    this.seen = Math.max(this.seen, seq);
    this.open.add(seq);
  }

  /** Nothing to take. */
  skip(seq: number): void {
    this.seen = Math.max(this.seen, seq);
  }

  /** It is durable, or there was nothing to keep of it. */
  finish(seq: number): void {
    this.open.delete(seq);
  }

  /** What may be committed together with `own`. */
  upTo(own?: number): number {
    let least = this.seen;
    for (const seq of this.open) if (seq !== own) least = Math.min(least, seq - 1);
    return least;
  }
}
