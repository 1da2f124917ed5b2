/**
 * The answer as it arrives, shown once. Live text is news that may be lost or begin again; the record at the end is the truth.
 *
 * CHAT-11: what was shown is never shown again when it comes again the same (a restart repeats the call that was under way).
 * CHAT-12: when the end comes, the whole answer has been shown; only what was missing is added.
 * CHAT-13: text that turned out different is marked void before the new text follows.
 */
export interface TextSink {
  write(text: string): void;
  /** What follows is said after something else was done. */
  next(): void;
  /** What was shown so far of this answer does not hold. */
  void(why: "discarded" | "different"): void;
}

export class StreamedText {
  private readonly sink: TextSink;
  private call = -1;
  private shown = "";
  /** After a restart: the text as it comes again, until it has caught up. */
  private again: string | undefined;
  /** Some of this call's text was missed; the end will bring it. */
  private gap = false;

  constructor(sink: TextSink) {
    this.sink = sink;
  }

  feed(call: number, text: string): void {
    if (call < this.call) return;
    if (call > this.call) this.begin(call);
    if (this.gap) return;
    if (this.again === undefined) this.show(text);
    else this.catchUp(this.again + text);
  }

  /** The model broke off and another try begins. */
  discarded(call: number): void {
    if (call !== this.call) return;
    if (this.shown) this.sink.void("discarded");
    this.begin(call);
  }

  /** The connection was lost and is back. */
  reconnected(restarted: boolean): void {
    if (restarted) {
      this.again = "";
      this.gap = false;
    } else this.gap = true;
  }

  /** The answer on record. */
  finish(text: string): void {
    const whole = text.trim();
    const shown = this.shown.trim();
    if (whole === shown) return;
    if (whole.startsWith(this.shown)) this.show(whole.slice(this.shown.length));
    else if (whole.startsWith(shown)) this.show(whole.slice(shown.length));
    else if (whole) {
      this.sink.void("different");
      this.begin(this.call);
      this.show(whole);
    }
  }

  private begin(call: number): void {
    if (this.shown && call > this.call) this.sink.next();
    this.call = call;
    this.shown = "";
    this.again = undefined;
    this.gap = false;
  }

  private show(text: string): void {
    const fresh = this.shown ? text : text.trimStart();
    if (!fresh) return;
    this.shown += fresh;
    this.sink.write(fresh);
  }

  private catchUp(given: string): void {
    const again = given.trimStart();
    this.again = again;
    if (this.shown.startsWith(again)) return;
    this.again = undefined;
    if (again.startsWith(this.shown)) this.show(again.slice(this.shown.length));
    // Another answer, or its beginning was missed before the connection was back: nobody can tell until the record is there.
    else this.gap = true;
  }
}
