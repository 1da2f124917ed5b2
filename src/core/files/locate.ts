/**
 * The walk from the root to the place a path names: one component at a time over open directories, never leaving the root.
 *
 * FILES-1: `..` goes back along the directories that were entered; back past the root is refused.
 * FILES-2: a symbolic link is read and walked as words; one that leads out of the root is refused, whatever it points to.
 * FILES-3: nothing is created behind a link whose target does not exist.
 */
import type { Stats } from "node:fs";
import { lstat, readlink, realpath } from "node:fs/promises";
import { Dir, type How } from "./dir.ts";
import { errno, notFound, outside, wrongInput } from "./failure.ts";
import { splitPath, wordsBelow } from "./split-path.ts";

/** As many links as Linux follows in one path before it calls it a loop. */
const MOST_LINKS = 40;

/** What to do about directories on the way that are not there. */
export type Parents = "need" | "make" | "imagine";

/** Symbolic links on the way and at the end: `inside` follows those that stay below the root, `refuse` follows none. */
export type Links = "inside" | "refuse";

export interface Spot {
  /** Real path of the root. */
  root: string;
  /** Components below the root, without links. */
  names: string[];
  /** The directory that holds it, or the directory itself when `name` is null; null when it is only imagined. */
  dir: Dir | null;
  name: string | null;
  /** What is there; undefined when nothing is. */
  stats: Stats | undefined;
  /** True when a link led here and there is nothing. */
  dangling: boolean;
}

export async function locate(
  root: string,
  path: string,
  options: { parents?: Parents; links?: Links; how?: How } = {},
): Promise<Spot> {
  const real = await realpath(root);
  const walk = new Walk(real, path, [real, root], options);
  return walk.run(await Dir.open(real, options.how));
}

class Walk {
  private readonly root: string;
  private readonly path: string;
  private readonly roots: readonly string[];
  private readonly parents: Parents;
  private readonly mostLinks: number;
  private readonly dirs: Dir[] = [];
  private names: string[] = [];
  private todo: string[];
  private links = 0;
  /** How many of the next words came out of a link. */
  private linked = 0;

  constructor(root: string, path: string, roots: readonly string[], options: { parents?: Parents; links?: Links }) {
    this.root = root;
    this.path = path;
    this.roots = roots;
    this.parents = options.parents ?? "need";
    this.mostLinks = options.links === "refuse" ? 0 : MOST_LINKS;
    this.todo = splitPath(path, roots);
  }

  async run(start: Dir): Promise<Spot> {
    this.dirs.push(start);
    try {
      const spot = await this.steps();
      if (spot.dir) this.dirs.splice(this.dirs.indexOf(spot.dir), 1);
      return spot;
    } finally {
      await Promise.all(this.dirs.map((dir) => dir.close()));
    }
  }

  private async steps(): Promise<Spot> {
    for (let word = this.todo.shift(); word !== undefined; word = this.todo.shift()) {
      const fromLink = this.linked > 0;
      if (fromLink) this.linked--;
      if (word === "" || word === ".") continue;
      if (word === "..") {
        await this.back();
        continue;
      }
      const stats = await this.look(word);
      if (stats === undefined) {
        if (this.isLast()) return this.spot(this.top, word, undefined, fromLink);
        if (this.parents === "need") throw notFound(this.path);
        // FILES-3: a link to a place that is not there must not make that place.
        if (fromLink) throw outside(this.path, "passes through a symbolic link to something that does not exist");
        if (this.parents === "imagine") return this.imagined(word);
        await this.top.make(word);
        await this.enter(word);
      } else if (stats.isSymbolicLink()) {
        await this.follow(word);
      } else if (stats.isDirectory()) {
        await this.enter(word);
      } else {
        if (!this.isLast()) throw wrongInput(`A part of "${this.path}" is not a directory.`);
        return this.spot(this.top, word, stats);
      }
    }
    return this.spot(this.top, null, await this.top.handle.stat());
  }

  private get top(): Dir {
    return this.dirs.at(-1)!;
  }

  private isLast(): boolean {
    return this.todo.every((word) => word === "" || word === ".");
  }

  private async look(word: string): Promise<Stats | undefined> {
    try {
      return await lstat(await this.top.at(word));
    } catch (error) {
      if (errno(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  private async enter(word: string): Promise<void> {
    this.dirs.push(await this.top.enter(word));
    this.names.push(word);
  }

  private async back(): Promise<void> {
    if (this.names.length === 0) throw outside(this.path, "leads out of the workspace");
    this.names.pop();
    await this.dirs.pop()!.close();
  }

  private async follow(word: string): Promise<void> {
    if (this.mostLinks === 0) throw outside(this.path, "is a symbolic link, or passes through one");
    if (++this.links > this.mostLinks) throw outside(this.path, "goes in a circle of symbolic links");
    const target = await readlink(await this.top.at(word));
    let words = target.split("/");
    if (target.startsWith("/")) {
      const below = wordsBelow(target, this.roots);
      if (below === undefined) throw outside(this.path, "is a symbolic link that leads out of the workspace");
      while (this.names.length > 0) await this.back();
      words = below;
    }
    this.todo.unshift(...words);
    this.linked += words.length;
  }

  private imagined(word: string): Spot {
    if (this.todo.includes("..")) throw notFound(this.path);
    const rest = this.todo.filter((next) => next !== "" && next !== ".");
    return { ...this.spot(this.top, word, undefined), dir: null, names: [...this.names, word, ...rest] };
  }

  private spot(dir: Dir, name: string | null, stats: Stats | undefined, dangling = false): Spot {
    const names = name === null ? [...this.names] : [...this.names, name];
    return { root: this.root, names, dir, name, stats, dangling };
  }
}
