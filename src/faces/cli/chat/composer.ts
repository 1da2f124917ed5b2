/**
 * The line a person writes. node:readline does the editing and the history; drawing is left to the screen, so that text may
 * stream in above while somebody types.
 *
 * P1: pasted lines become one message, not one each.
 */
import { createInterface, emitKeypressEvents, type Interface, type Key } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import type { CliInput, CliOutput } from "../ports.ts";
import { head, tail, textWidth } from "../width.ts";

export interface ComposerParts {
  input: CliInput;
  output: CliOutput;
  onMessage(text: string): void;
  onInterrupt(): void;
  /** Ctrl-D on an empty line, or the terminal went away. */
  onEnd(): void;
  onChange(): void;
  /** What was typed before, newest first. */
  history: readonly string[];
  /** Tab: the line as it becomes; undefined leaves it. */
  complete(line: string): string | undefined;
  /** Any key was pressed; it still goes into the line. */
  onKey(): void;
}

const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";

export class Composer {
  private readonly parts: ComposerParts;
  private readonly rl: Interface;
  private above: string[] = [];
  private isPasting = false;

  constructor(parts: ComposerParts) {
    this.parts = parts;
    // readline never sees the terminal: keys are handed to it, and what it would draw goes nowhere.
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    this.rl = createInterface({
      input: new PassThrough(),
      output: nowhere,
      terminal: true,
      historySize: 500,
      history: [...parts.history],
    });
    this.rl.on("line", (line) => this.entered(line));
    this.rl.on("SIGINT", () => parts.onInterrupt());
    this.rl.on("SIGTSTP", () => this.suspend());
    this.rl.once("close", () => parts.onEnd());
    emitKeypressEvents(parts.input);
    parts.input.on("keypress", this.pressed);
    parts.input.once("end", () => this.rl.close());
    this.raw(true);
    parts.input.resume();
  }

  get line(): string {
    return this.rl.line;
  }

  get isEmpty(): boolean {
    return this.rl.line === "" && this.above.length === 0;
  }

  clear(): void {
    this.above = [];
    this.clearLine();
    this.parts.onChange();
  }

  /** The row as drawn, and the column of the cursor. A long line is shown around the cursor. */
  draw(columns: number): { text: string; column: number } {
    const more = this.above.length ? `(${this.above.length} lines above) ` : "";
    const prompt = `› ${more}`;
    const room = Math.max(columns - 2 - textWidth(prompt), 8);
    const left = tail(this.rl.line.slice(0, this.rl.cursor), room - 1);
    const right = head(this.rl.line.slice(this.rl.cursor), room - textWidth(left));
    return { text: prompt + left + right, column: textWidth(prompt + left) };
  }

  close(): void {
    this.parts.input.off("keypress", this.pressed);
    this.parts.input.pause();
    this.rl.removeAllListeners();
    this.rl.close();
    this.raw(false);
  }

  private readonly pressed = (text: string | undefined, key: Key): void => {
    if (key.name === "paste-start" || key.name === "paste-end") {
      this.isPasting = key.name === "paste-start";
      return;
    }
    if (!this.isPasting) this.parts.onKey();
    if (this.isPasting && (key.name === "return" || key.name === "enter")) {
      this.above.push(this.rl.line);
      this.clearLine();
    } else if (this.isPasting && key.name === "tab") this.rl.write("  ");
    else if (key.name === "tab") this.tab();
    else if (key.name === "backspace" && this.rl.line === "" && this.above.length) {
      this.rl.write(this.above.pop() ?? "");
    } else {
      // The typings know text or a key; readline's own listener passes both.
      this.rl.write(text as string, key);
    }
    this.parts.onChange();
  };

  /** Only at the end of a line of its own: elsewhere a tab means nothing. */
  private tab(): void {
    if (this.above.length || this.rl.cursor < this.rl.line.length) return;
    const line = this.parts.complete(this.rl.line);
    if (line === undefined || line === this.rl.line) return;
    this.clearLine();
    this.rl.write(line);
  }

  private entered(line: string): void {
    const text = [...this.above, line].join("\n").trim();
    this.above = [];
    if (text) this.parts.onMessage(text);
  }

  private clearLine(): void {
    this.rl.write(null, { ctrl: true, name: "e" });
    this.rl.write(null, { ctrl: true, name: "u" });
  }

  private suspend(): void {
    this.raw(false);
    process.once("SIGCONT", () => {
      this.raw(true);
      this.parts.onChange();
    });
    process.kill(process.pid, "SIGTSTP");
  }

  private raw(on: boolean): void {
    this.parts.input.setRawMode?.(on);
    this.parts.output.write(on ? PASTE_ON : PASTE_OFF);
  }
}
