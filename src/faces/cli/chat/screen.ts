/**
 * The foot of the terminal: a few live rows that change in place, with everything lasting printed above them.
 *
 * CHAT-10: a live row is never wider than the terminal, so the number of rows to go back is known.
 */
import type { Tone } from "../format.ts";
import type { Paint } from "../output.ts";
import type { CliOutput } from "../ports.ts";
import { cut } from "../width.ts";

export interface Row {
  text: string;
  tone?: Tone;
}

export interface ScreenBlock {
  rows: readonly Row[];
  /** Where the cursor stands; without it, after the last row. */
  cursor?: { row: number; column: number };
}

export class Screen {
  private readonly out: CliOutput;
  private readonly paint: Paint;
  private block: ScreenBlock = { rows: [] };
  /** Rows between the top of the block and the cursor. */
  private above = 0;

  constructor(out: CliOutput, paint: Paint) {
    this.out = out;
    this.paint = paint;
  }

  get columns(): number {
    return Math.max(this.out.columns ?? 80, 20);
  }

  /** Lasting lines, and the block below them. One write, so that nothing flickers. */
  show(block: ScreenBlock, lasting: readonly string[] = []): void {
    const erased = this.erase();
    this.block = block;
    this.out.write(erased + lasting.map((line) => `${line}\n`).join("") + this.draw());
  }

  /** The block goes; the cursor is at the start of an empty line. */
  clear(): void {
    const erased = this.erase();
    this.block = { rows: [] };
    if (erased) this.out.write(erased);
  }

  private erase(): string {
    if (!this.block.rows.length) return "";
    const up = this.above > 0 ? `\u001b[${this.above}A` : "";
    this.above = 0;
    return `\r${up}\u001b[J`;
  }

  private draw(): string {
    const { rows, cursor } = this.block;
    if (!rows.length) return "";
    const text = rows.map((row) => this.paint(cut(row.text, this.columns - 1), row.tone ?? "plain")).join("\n");
    const last = rows.length - 1;
    this.above = cursor?.row ?? last;
    if (!cursor) return text;
    const up = last > cursor.row ? `\u001b[${last - cursor.row}A` : "";
    const right = cursor.column > 0 ? `\u001b[${cursor.column}C` : "";
    return `${text}${up}\r${right}`;
  }
}
