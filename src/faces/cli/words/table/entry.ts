/** One line of the table of commands. Help, docs/CLI.md and the program itself are made from it. */
import { InvalidArgumentError } from "commander";
import type { Action } from "../../context.ts";

export interface Flag {
  /** As commander reads it: `--limit <n>`. */
  flag: string;
  about: string;
  parse?: (text: string) => unknown;
  choices?: readonly string[];
  /** Given again, it adds. */
  repeats?: boolean;
  needed?: boolean;
}

export interface CommandEntry {
  /** `sessions list`; one word for what is used daily. */
  name: string;
  /** Its arguments as commander reads them: `<session>`. */
  takes?: string;
  about: string;
  flags?: readonly Flag[];
  example: string;
  /** What it may end with beside what every command may. */
  exits?: string;
  load(): Promise<Action>;
}

export interface Group {
  name: string;
  /** What a noun alone is about. */
  nouns: Readonly<Record<string, string>>;
  commands: readonly CommandEntry[];
}

export function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const n = Number(text);
    if (text.trim() === "" || !Number.isInteger(n) || n < least || n > most) {
      throw new InvalidArgumentError(`Use a whole number from ${least} to ${most}.`);
    }
    return n;
  };
}

export function amount(text: string): number {
  const n = Number(text);
  if (text.trim() === "" || !(n >= 0 && n <= 1_000_000)) throw new InvalidArgumentError("Use a number, 0 or more.");
  return n;
}

export function days(text: string): number {
  const n = Number(text.replace(/d$/, ""));
  if (text.trim() === "" || !(n >= 0 && n <= 36_500)) throw new InvalidArgumentError("Use a number of days.");
  return n;
}

export const limit = (most: number, about = "show at most this many"): Flag => ({
  flag: "--limit <n>",
  about,
  parse: whole(1, most),
});
