/**
 * Looking up what the words of a command may name. Each path is looked at once, and only so many are: a command's words are a
 * model's, and planning has to stay quick. Nothing is opened.
 */
import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { resolve } from "node:path";
import type { ShellCommand } from "../../../core/contracts/index.ts";
import { entered, pathsInWord } from "../../../core/kit/index.ts";

/** Looking at so many takes about a tenth of a second. */
const MOST_LOOKS = 2000;
/** Directories a text may change to; more is nobody's honest command. */
const MOST_PLACES = 24;
/** Options that are longer have no file glued to them. */
const LONGEST_GLUED = 200;
const LONGEST_PATH = 4096;

export class Looks {
  private readonly seen = new Map<string, Promise<BigIntStats | undefined>>();
  private left: number;

  constructor(most = MOST_LOOKS) {
    this.left = most;
  }

  /** There was more to look at than is allowed: what is not known may be anything. */
  get isCut(): boolean {
    return this.left < 0;
  }

  /** What stands there, a link as a link. Undefined: nothing, or nothing we may see. */
  at(path: string): Promise<BigIntStats | undefined> {
    const known = this.seen.get(path);
    if (known) return known;
    if (path.length > LONGEST_PATH || --this.left < 0) return Promise.resolve(undefined);
    const found = lstat(path, { bigint: true }).catch(() => undefined);
    this.seen.set(path, found);
    return found;
  }
}

/** The directories that commands of the text may stand in. `home` is what `~` means to them. */
export function placesOf(commands: readonly ShellCommand[], cwd: string, home: string): string[] {
  const places = new Set([cwd]);
  for (const { words } of commands) {
    const [name = "", ...args] = words.map((word) => word.literal ?? word.guess);
    for (const path of entered(name, args))
      for (const from of [...places]) if (places.size < MOST_PLACES) places.add(resolve(from, atHome(path, home)));
  }
  return [...places];
}

export function atHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? home + path.slice(1) : path;
}

/** Every piece of a word that may name a file, also glued to an option (`-fnotes.md`): which letters are options is not known. */
export function piecesOf(word: string): string[] {
  const glued =
    /^-[A-Za-z]/.test(word) && word.length <= LONGEST_GLUED
      ? Array.from({ length: word.length - 2 }, (_, i) => word.slice(i + 2)).filter((end) => !end.startsWith("/"))
      : [];
  return [...pathsInWord(word), ...glued];
}
