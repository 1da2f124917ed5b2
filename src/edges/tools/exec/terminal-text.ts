/**
 * Terminal output as plain text: colours, titles and cursor moves are left out, a line that was drawn over again
 * (progress bars) is there once, as it was last.
 */

/** CSI; OSC, DCS and the like up to their end; the two-sign ones. At the end of a piece they may be cut. */
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\`-~])/g;
const BEGUN = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)$/;
/** A begun sequence longer than this is none. */
const LONGEST_SEQUENCE = 4096;
/** A line longer than this is given out in pieces. */
const LONGEST_LINE = 16_384;
const ENDS_OF_LINE = /[\n\r\b]/;

export class TerminalText {
  private pending = "";
  private line = "";
  /** The cursor went back to the beginning: what comes next draws over. */
  private isReturned = false;

  /** The text that is final now. */
  add(text: string): string {
    const all = this.pending + text;
    const begun = BEGUN.exec(all);
    const cut = begun && all.length - begun.index < LONGEST_SEQUENCE ? begun.index : all.length;
    this.pending = all.slice(cut);
    return this.draw(all.slice(0, cut).replace(SEQUENCE, ""));
  }

  end(): string {
    const rest = this.line;
    this.line = "";
    return rest;
  }

  private draw(text: string): string {
    let out = "";
    for (let at = 0; at < text.length; ) {
      const next = text.slice(at).search(ENDS_OF_LINE);
      const stop = next < 0 ? text.length : at + next;
      if (stop > at) this.put(text.slice(at, stop));
      const sign = text[stop];
      if (sign === "\n") {
        out += `${this.line}\n`;
        this.line = "";
        this.isReturned = false;
      } else if (sign === "\r") this.isReturned = true;
      else if (sign === "\b") this.line = this.line.slice(0, -1);
      at = stop + 1;
      if (this.line.length > LONGEST_LINE) {
        out += this.line;
        this.line = "";
      }
    }
    return out;
  }

  private put(piece: string): void {
    const seen = piece.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "");
    if (seen === "") return;
    this.line = this.isReturned ? seen : this.line + seen;
    this.isReturned = false;
  }
}
