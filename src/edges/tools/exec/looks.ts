/**
 * Looking up what the words of a command may name. Each path is checked once, and only up to a limit: a command's words are a
 * model's, and planning has to stay quick. Nothing is opened.
 */
import type { BigIntStats, Dirent } from "node:fs";
import { lstat, opendir, readlink, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { ShellCommand } from "../../../core/contracts/index.ts";
import { entered, gluedNames, pathsInWord } from "../../../core/kit/index.ts";

/** Checking this many takes less than a tenth of a second. */
const MOST_LOOKS = 1500;
/** Parts of paths that are gone along, also those that are known already. */
const MOST_STEPS = 20_000;
/** For patterns: folders that are read, and entries of each. */
const MOST_FOLDERS = 32;
const MOST_ENTRIES = 10_000;
/** Directories a text may change to; more is nobody's honest command. */
const MOST_PLACES = 24;
const LONGEST_PATH = 4096;

export class Looks {
  private readonly seen = new Map<string, BigIntStats | undefined>();
  private readonly folders = new Map<string, Promise<string[]>>();
  private readonly targets = new Map<string, string>();
  private left = MOST_LOOKS;
  private steps = MOST_STEPS;

  /** There was more to look at than is allowed: what is not known may be anything. */
  get isCut(): boolean {
    return this.left < 0 || this.steps < 0;
  }

  /** What stands there, a link as a link. Undefined: nothing, or nothing we may see. Waits only for what is not known yet. */
  at(path: string): Promise<BigIntStats | undefined> | BigIntStats | undefined {
    this.steps--;
    if (this.seen.has(path)) return this.seen.get(path);
    if (this.isCut || path.length > LONGEST_PATH || --this.left < 0) return undefined;
    return lstat(path, { bigint: true })
      .catch(() => undefined)
      .then((found) => {
        this.seen.set(path, found);
        return found;
      });
  }

  /** Where a link leads, without links; for one that leads nowhere yet, where it would. */
  async readTarget(link: string): Promise<string> {
    const known = this.targets.get(link);
    if (known !== undefined) return known;
    const to = await realpath(link).catch(async () => resolve(dirname(link), await readlink(link).catch(() => "/")));
    this.targets.set(link, to);
    return to;
  }

  /** A folder, or a link to one. */
  async isFolder(path: string): Promise<boolean> {
    const found = await this.at(path);
    if (!found?.isSymbolicLink()) return found?.isDirectory() ?? false;
    return (await this.at(await this.readTarget(path)))?.isDirectory() ?? false;
  }

  /** What is in a folder. Undefined: more than is looked at. */
  async entries(folder: string): Promise<Dirent[] | undefined> {
    const entries: Dirent[] = [];
    try {
      for await (const entry of await opendir(folder, { bufferSize: 256 })) {
        if (--this.steps < 0) return undefined;
        entries.push(entry);
      }
    } catch {
      // A folder that nobody may read shows nothing to the command, either.
    }
    return entries;
  }

  /** Of all that was looked at: files with more than one name. */
  hardLinked(): string[] {
    return [...this.seen].flatMap(([path, stats]) => (stats?.isFile() && stats.nlink > 1n ? [path] : []));
  }

  /** There is more than is looked at. */
  cut(): void {
    this.left = -1;
  }

  /** Names of the links in a folder, then of the folders in it. */
  below(folder: string): Promise<string[]> {
    const known = this.folders.get(folder);
    if (known) return known;
    if (this.folders.size >= MOST_FOLDERS) return Promise.resolve([]);
    const found = readBelow(folder).catch(() => []);
    this.folders.set(folder, found);
    return found;
  }
}

async function readBelow(folder: string): Promise<string[]> {
  const links: string[] = [];
  const folders: string[] = [];
  let left = MOST_ENTRIES;
  for await (const entry of await opendir(folder, { bufferSize: 256 })) {
    if (--left < 0) break;
    if (entry.isSymbolicLink()) links.push(entry.name);
    else if (entry.isDirectory()) folders.push(entry.name);
  }
  return [...links, ...folders];
}

/**
 * The directories that commands of the text may stand in, as the words say it: `..` stays, because over a link it leads elsewhere.
 * `home` is what `~` means to them.
 */
export function listPlaces(commands: readonly ShellCommand[], cwd: string, home: string): string[] {
  const places = new Set([cwd]);
  for (const { words } of commands) {
    const [name = "", ...args] = words.map((word) => word.literal ?? word.guess);
    if (places.size >= MOST_PLACES) break;
    for (const path of entered(name, args))
      for (const from of [...places]) if (places.size < MOST_PLACES) places.add(pathFrom(from, path, home));
  }
  return [...places];
}

/** Absolute, and otherwise as it is written. */
export function pathFrom(place: string, path: string, home: string): string {
  const there = atHome(path, home);
  return there.startsWith("/") ? there : `${place}/${there}`;
}

function atHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? home + path.slice(1) : path;
}

/** Every piece of a word that may name a file, also glued to an option (`-fnotes.md`): which letters are options is not known. */
export function splitWord(word: string): string[] {
  return [...pathsInWord(word), ...gluedNames(word).filter((end) => !end.startsWith("/"))];
}
