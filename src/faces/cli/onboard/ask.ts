/** Questions on stderr, answers from the terminal. One reader for all of them, so that nothing typed ahead is lost. */
import { StringDecoder } from "node:string_decoder";
import { usage } from "../exit.ts";
import type { CliInput, CliOutput } from "../ports.ts";
import { onboardWords as words } from "../words/onboard.ts";

/** Ctrl-C or Ctrl-D instead of an answer. */
export class Interrupted extends Error {}

export interface Choice<T> {
  text: string;
  value: T;
}

/** After so many answers that fit nothing, somebody is not answering but pasting. */
const TRIES = 5;

export class Asker {
  private readonly input: CliInput;
  private readonly output: CliOutput;
  private readonly decoder = new StringDecoder("utf8");
  private buffer = "";
  private isOver = false;
  private wake = () => {};

  constructor(input: CliInput, output: CliOutput) {
    this.input = input;
    this.output = output;
    input.on("data", this.heard);
    input.once("end", this.ended);
  }

  /** Enter takes the default, which is shown. */
  async line(question: string, standard = ""): Promise<string> {
    this.output.write(`${question}${standard ? ` [${standard}]` : ""} `);
    return (await this.next(/\r\n|\n|\r/)).trim() || standard;
  }

  /** One of a few, by number; the first is what Enter takes. */
  async choose<T>(question: string, choices: readonly Choice<T>[]): Promise<T> {
    this.output.write(`${question}\n${choices.map(({ text }, i) => `  ${i + 1}  ${text}\n`).join("")}`);
    for (let tries = 0; tries < TRIES; tries++) {
      const picked = choices[Number(await this.line("", "1")) - 1];
      if (picked) return picked.value;
      this.output.write(words.typeNumber(choices.length));
    }
    throw usage(words.chooseNumber, words.orFlags);
  }

  /** Nothing of the answer is shown. */
  async secret(question: string): Promise<string> {
    this.output.write(`${question} `);
    this.input.setRawMode?.(true);
    try {
      const typed = await this.next(/\r\n|\n|\r/);
      // The terminal edits nothing while it hides, so deleted characters are still there.
      let kept = "";
      for (const sign of typed) kept = sign === "\u007f" || sign === "\b" ? kept.slice(0, -1) : kept + sign;
      return kept.trim();
    } finally {
      this.input.setRawMode?.(false);
      this.output.write("\n");
    }
  }

  /** Ctrl-C came as a signal, as it does while the terminal edits the line. */
  interrupt(): void {
    this.ended();
  }

  close(): void {
    this.input.off("data", this.heard);
    this.input.off("end", this.ended);
    this.input.pause();
  }

  private async next(end: RegExp): Promise<string> {
    for (;;) {
      const found = end.exec(this.buffer);
      const isStopped = /[\u0003\u0004]/.exec(this.buffer);
      if (isStopped && (!found || isStopped.index < found.index)) throw new Interrupted();
      if (found) {
        const line = this.buffer.slice(0, found.index);
        this.buffer = this.buffer.slice(found.index + found[0].length);
        return line;
      }
      if (this.isOver) throw new Interrupted();
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  private readonly heard = (part: Buffer | string): void => {
    this.buffer += typeof part === "string" ? part : this.decoder.write(part);
    this.wake();
  };

  private readonly ended = (): void => {
    this.isOver = true;
    this.wake();
  };
}
