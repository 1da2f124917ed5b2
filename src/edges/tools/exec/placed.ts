/** Where one path that a command reaches really lies: outside over a link, under several names, or among the settings of git. */
import type { BigIntStats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { ShellCommand } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { isSecretFile } from "../../../core/kit/index.ts";
import { withInside } from "../paths/index.ts";
import { Looks } from "./looks.ts";
import { findWay } from "./way.ts";

export interface CommandPlace {
  /** Real path of the working directory. */
  cwd: string;
  /** Real path of the workspace. */
  home: string;
  /** Other folders of the agent. */
  roots?: readonly string[];
}

export type FoundLink = NonNullable<ShellCommand["links"]>[number];

/** What was found out for one text in one directory. Its commands may name the same paths hundreds of times. */
export class PathWays {
  readonly looks = new Looks();
  /** For what searches meet: a look through many folders must not use up the room for the words themselves. */
  readonly searches = new Looks();
  private readonly answers = new Map<string, boolean>();
  private readonly ends = new Map<string, string[]>();
  private secrets: Promise<ReadonlyMap<string, string>> | undefined;
  private readonly repositories = new Map<string, boolean>();

  async leadOut(path: string, around: CommandPlace): Promise<boolean> {
    const known = this.answers.get(path);
    if (known !== undefined) return known;
    const answer = await leads(path, around, this.looks);
    this.answers.set(path, answer);
    return answer;
  }

  /** Where a path really is, when that isn't what it says: outside the agent's folders, a file of secrets or of instructions. */
  async reallyAt(path: string, around: CommandPlace): Promise<string[]> {
    const known = this.ends.get(path);
    if (known !== undefined) return known;
    const ends = await realEnds(path, around, this.looks);
    this.ends.set(path, ends);
    return ends;
  }

  /** The file of secrets in the agent's folders that a file with several names also is. A bounded look, once for each text. */
  async secretTwin(path: string, around: CommandPlace): Promise<string | undefined> {
    const stats = await this.looks.at(path);
    if (!stats?.isFile() || isSecretFile(path)) return undefined;
    this.secrets ??= secretInodes(around, this.searches);
    return (await this.secrets).get(identity(stats));
  }

  /** Whether a path lies in the folder git keeps a repository in, whatever that folder is called. */
  async isInRepository(path: string, { cwd, home, roots = [] }: CommandPlace): Promise<boolean> {
    const isThere = (await this.looks.at(resolve(cwd, firstPart(path)))) !== undefined;
    const ends = isThere ? (await findWay(path, cwd, this.looks)).ends : [resolve(cwd, path)];
    for (const end of ends) {
      const root = [home, ...roots].find((one) => end === one || end.startsWith(`${one}/`));
      if (root === undefined) continue;
      if (end.slice(root.length).split("/").includes(".git")) return true;
      for (let at = end; at.length >= root.length; at = dirname(at)) if (await this.isRepository(at)) return true;
    }
    return false;
  }

  /** The nearest folder from here up to the agent's own that git takes for a repository by what is in it, not by its name. */
  async repositoryAbove(folder: string, { home, roots = [] }: CommandPlace): Promise<string | undefined> {
    const root = [home, ...roots].find((one) => folder === one || folder.startsWith(`${one}/`)) ?? folder;
    for (let at = folder; at.length >= root.length; at = dirname(at)) {
      // Where there is too much to look at, nobody knows.
      if ((await this.isRepository(at)) || this.looks.isCut) return at;
      if (at === "/") break;
    }
    return undefined;
  }

  /** By the same marks that git goes by. */
  private async isRepository(folder: string): Promise<boolean> {
    const known = this.repositories.get(folder);
    if (known !== undefined) return known;
    const has = async (name: string) => (await this.looks.at(join(folder, name))) !== undefined;
    const answer =
      (await this.looks.isFolder(folder)) &&
      (await has("HEAD")) &&
      ((await has("commondir")) || ((await has("objects")) && (await has("refs"))));
    this.repositories.set(folder, answer);
    return answer;
  }
}

/** What is to be known about the path before a rule lets a command reach it; nothing for most. */
export async function placed({ word, path }: FoundLink, around: CommandPlace, ways: PathWays): Promise<FoundLink[]> {
  if (await ways.leadOut(path, around)) return [{ word, path }];
  const found = (await ways.reallyAt(path, around)).map((to): FoundLink => ({ word, path, to }));
  if (await hasOtherNames(resolve(around.cwd, path), ways.looks)) {
    const to = await ways.secretTwin(resolve(around.cwd, path), around);
    return [...found, ...(to === undefined ? [] : [{ word, path, to }]), { word, path, isHard: true }];
  }
  return (await ways.isInRepository(path, around)) ? [...found, { word, path, isGit: true }] : found;
}

/** Another name of the same file may lie outside, and what is written to one is in the other. */
export async function hasOtherNames(path: string, looks: Looks): Promise<boolean> {
  const stats = await looks.at(path);
  if (!stats?.isFile()) return false;
  return stats.nlink > 1n;
}

async function leads(path: string, { cwd, home, roots: others = [] }: CommandPlace, looks: Looks): Promise<boolean> {
  const roots = [home, ...others];
  const at = resolve(cwd, path);
  // Most words are no files.
  if (!(await looks.at(resolve(cwd, firstPart(path))))) return false;
  if (path.includes("..")) {
    const { ends, hasTurned } = await findWay(path, cwd, looks);
    if (hasTurned && ends.some((end) => !roots.some((root) => end === root || end.startsWith(`${root}/`)))) return true;
  }
  const root = roots.find((one) => at.startsWith(`${one}/`));
  // What lies outside by its name is the gate's own business.
  if (root === undefined) return false;
  try {
    await withInside({ root, path: at, parents: "imagine" }, async () => {});
    return false;
  } catch (error) {
    return error instanceof AppError && error.code === "PATH_OUTSIDE";
  }
}

async function realEnds(path: string, { cwd, home, roots = [] }: CommandPlace, looks: Looks): Promise<string[]> {
  const at = resolve(cwd, path);
  const isOwn = [home, ...roots].some((root) => at === root || at.startsWith(`${root}/`));
  if (isOwn && !(await looks.at(resolve(cwd, firstPart(path))))) return [];
  const { ends, links } = await findWay(path, cwd, looks);
  // Of the machine itself, and made by its owner: /tmp, /etc and /bin are links on some.
  if (links.every(({ from }) => from.lastIndexOf("/") === 0)) return [];
  return ends.filter((end) => end !== at);
}

/** What is installed, and what git keeps: nobody's own keys. */
const PASSED_OVER = new Set(["node_modules", ".git"]);
const MOST_FOLDERS = 400;

async function secretInodes({ home, roots = [] }: CommandPlace, looks: Looks): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const waiting = [home, ...roots];
  for (let i = 0; i < waiting.length && i < MOST_FOLDERS; i++) {
    for (const entry of (await looks.entries(waiting[i]!)) ?? []) {
      const path = join(waiting[i]!, entry.name);
      if (entry.isDirectory() && !PASSED_OVER.has(entry.name)) waiting.push(path);
      else if (entry.isFile() && isSecretFile(path)) {
        const stats = await looks.at(path);
        if (stats) found.set(identity(stats), path);
      }
    }
  }
  return found;
}

function identity({ dev, ino }: BigIntStats): string {
  return `${dev} ${ino}`;
}

export function firstPart(path: string): string {
  const end = path.indexOf("/");
  return end > 0 ? path.slice(0, end) : path;
}
