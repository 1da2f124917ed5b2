/**
 * The client's lines, bounded: what is longer is thrown away as it arrives, and reported once. Works on bytes, so that a character split over
 * two chunks stays whole.
 */
/** The largest attachment (20 MB) as base64 (a third more), and the words around it. */
const MOST_LINE = 32 * 1_048_576;
const NEWLINE = 10;

export class LineReader {
  private readonly most: number;
  private readonly take: (line: string | undefined) => void;
  private parts: Buffer[] = [];
  private bytes = 0;
  private isTooLong = false;

  /** `take` gets each line; nothing for one that was too long. */
  constructor(take: (line: string | undefined) => void, most = MOST_LINE) {
    this.take = take;
    this.most = most;
  }

  feed(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.add(chunk.subarray(from, at));
      this.flush();
      from = at + 1;
    }
    this.add(chunk.subarray(from));
  }

  /** The input ended: a last line may lack its end. */
  end(): void {
    if (this.bytes > 0) this.flush();
  }

  private add(piece: Buffer): void {
    this.bytes += piece.length;
    if (this.bytes > this.most) {
      this.isTooLong = true;
      this.parts = [];
    }
    if (!this.isTooLong && piece.length > 0) this.parts.push(piece);
  }

  private flush(): void {
    const line = this.isTooLong ? undefined : Buffer.concat(this.parts).toString("utf8");
    this.parts = [];
    this.bytes = 0;
    this.isTooLong = false;
    this.take(line);
  }
}
