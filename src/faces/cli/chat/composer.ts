/**
 * The line a person writes. node:readline does the editing and the history; drawing is left to the screen, so that text may
 * stream in above while somebody types.
 *
 * CHAT-1: pasted lines become one message, not one each.
 * CHAT-14: the work for a long text is linear in it. readline measures the whole line for every piece it is given, so a paste is handed
 *     over once, when it is whole; and what is typed on a long line is held until a key needs it there.
 */
import { createInterface, emitKeypressEvents, type Interface, type Key } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import type { CliInput, CliOutput } from "../ports.ts";
import { head, tail, textWidth } from "../width.ts";
import { chatWords as words } from "../words/chat.ts";

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
  /** More came than a message may hold; the rest is left out. */
  onTooLong(most: number): void;
}

/** What chat.send takes. */
const MOST = 262_144;
/** From this length on typed text is held: nobody types it by hand, and readline gets slow. */
const HELD_FROM = 2000;

/** Keys that stand for text in what somebody pasted. */
const PASTED: Readonly<Record<string, string>> = { return: "\n", enter: "\n", tab: "  " };

const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";

export class Composer {
  private readonly parts: ComposerParts;
  private readonly rl: Interface;
  private above: string[] = [];
  /** Lines and length of a paste under way. */
  private paste: { pieces: string[]; length: number } | undefined;
  /** Typed at the cursor, and not yet with readline. */
  private held = "";

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

  get isEmpty(): boolean {
    return this.rl.line === "" && this.held === "" && this.above.length === 0;
  }

  clear(): void {
    this.above = [];
    this.handOver();
    this.clearLine();
    this.parts.onChange();
  }

  /** The row as drawn, and the column of the cursor. A long line is shown around the cursor. */
  draw(columns: number): { text: string; column: number } {
    const more = this.above.length ? words.linesAbove(this.above.length) : "";
    const prompt = `› ${more}`;
    const room = Math.max(columns - 2 - textWidth(prompt), 8);
    const left = tail(this.rl.line.slice(0, this.rl.cursor) + this.held, room - 1);
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
    if (key.name === "paste-start") this.paste = { pieces: [], length: 0 };
    else if (this.paste && key.name !== "paste-end" && !(key.ctrl && key.name === "c")) this.pasting(text, key);
    else {
      if (this.paste) this.pasted();
      if (key.name !== "paste-end") this.typed(text, key);
      this.parts.onChange();
    }
  };

  /** Text and line ends are collected; other keys are no part of what somebody copied. */
  private pasting(text: string | undefined, key: Key): void {
    const { paste } = this;
    const piece = PASTED[key.name ?? ""] ?? plainText(text, key);
    if (!paste || !piece) return;
    paste.length += piece.length;
    if (this.hasRoom(paste.length)) paste.pieces.push(piece);
  }

  private pasted(): void {
    const [first = "", ...more] = (this.paste?.pieces.join("") ?? "").split("\n");
    this.paste = undefined;
    this.insert(first);
    for (const line of more) {
      this.handOver();
      this.above.push(this.rl.line);
      this.clearLine();
      this.insert(line);
    }
  }

  private typed(text: string | undefined, key: Key): void {
    this.parts.onKey();
    const plain = plainText(text, key);
    if (plain) {
      if (this.hasRoom(plain.length)) this.insert(plain);
      return;
    }
    this.handOver();
    if (key.name === "tab") this.tab();
    else if (key.name === "backspace" && this.rl.line === "" && this.above.length) this.insert(this.above.pop() ?? "");
    // The typings know text or a key; readline's own listener passes both.
    else this.rl.write(text as string, key);
  }

  private hasRoom(more: number): boolean {
    const has = this.rl.line.length + this.held.length + more <= MOST;
    if (!has) this.parts.onTooLong(MOST);
    return has;
  }

  private insert(text: string): void {
    this.held += text;
    if (this.rl.line.length + this.held.length < HELD_FROM) this.handOver();
  }

  private handOver(): void {
    const { held } = this;
    this.held = "";
    if (held) this.rl.write(held);
  }

  /** Only at the end of a separate line: elsewhere a tab means nothing. */
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

/** What a key puts into the line; nothing for one that does something. */
function plainText(text: string | undefined, key: Key): string {
  return text && !key.ctrl && !key.meta && !/[\u0000-\u001f\u007f]/.test(text) ? text : "";
}
