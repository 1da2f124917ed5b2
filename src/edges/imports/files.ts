/**
 * A folder of another system. Somebody may have made it for us: plain files only, never over a link that leads out of it, never
 * waiting for a pipe, so many bytes each and altogether.
 */
import { join } from "node:path";
import { kindBelow, listBelow, readBelow } from "../../core/files/index.ts";
import { looseJson } from "../../core/kit/index.ts";
import type { ImportItem } from "./items.ts";

const MB = 1024 * 1024;
/** Settings, notes and instructions. */
const LARGEST = MB;
/** A transcript of a long life; more is not read at once. */
export const LARGEST_TRANSCRIPT = 64 * MB;
/** Everything together has to fit into memory until it is taken over. */
const LARGEST_SUM = 256 * MB;
const MOST_NAMES = 10_000;
/** Folders of a skill, each in the other, that are looked through. */
const DEEPEST_SKILL = 8;

const LINK = "It is a link, and only what is in the folder itself is read.";
const TOO_MUCH = `The folder holds more than ${LARGEST_SUM / MB} MB, which is the most that is read at once.`;
const NO_FILE = "It is a pipe, a device or a socket, not a file.";

export class ForeignFolder {
  /** Absolute. All paths given to the methods are absolute and below it, or they are not there. */
  readonly dir: string;
  private left = LARGEST_SUM;
  /** What was skipped, with the reason. */
  private readonly passed = new Map<string, string>();
  private readonly taken: string[] = [];

  constructor(dir: string) {
    this.dir = dir;
  }

  /** Nothing for what is not a plain file of a usual size, which is listed as left out. */
  async text(path: string, most = LARGEST): Promise<string | undefined> {
    const found = await readBelow({ root: this.dir, path, most: Math.min(most, this.left) });
    if (found.state === "refused") this.pass(path, this.left < most ? TOO_MUCH : await this.whyNot(path, most));
    if (found.state !== "file") return undefined;
    this.left -= found.content.length;
    this.taken.push(path);
    return found.content.toString("utf8");
  }

  /** What a file of JSON says; nothing when it is not there, or cannot be understood, which is listed as left out. */
  async json(path: string, most = LARGEST): Promise<unknown> {
    const text = await this.text(path, most);
    if (text === undefined) return undefined;
    const value = looseJson(text);
    if (value === undefined) this.pass(path, "It isn't valid JSON, or it is nested too deeply.");
    return value;
  }

  /** What was skipped, once everything has been read; `known` already says why some of it was. */
  leftOut(known: readonly ImportItem[]): ImportItem[] {
    const told = new Set(known.flatMap((item) => (item.what === "left out" ? [item.from] : [])));
    return [...this.passed].flatMap(([from, why]): ImportItem[] => {
      // A link to another place in the folder was read where something is expected under its name.
      const wasRead = why === LINK && this.taken.some((path) => path === from || path.startsWith(`${from}/`));
      return told.has(from) || wasRead ? [] : [{ what: "left out", from, why }];
    });
  }

  /** Names of the folders in a folder, in order. Hidden ones are not looked at. */
  async folders(path: string): Promise<string[]> {
    return (await this.names(path, "directory")).filter((name) => !name.startsWith("."));
  }

  files(path: string): Promise<string[]> {
    return this.names(path, "file");
  }

  async isFile(path: string): Promise<boolean> {
    const kind = await kindBelow({ root: this.dir, path });
    if (kind === "other") this.pass(path, NO_FILE);
    return kind === "file";
  }

  async isFolder(path: string): Promise<boolean> {
    return (await kindBelow({ root: this.dir, path })) === "directory";
  }

  /** Folders below `path`, two levels deep, that hold a SKILL.md. */
  async skills(path: string): Promise<{ name: string; dir: string }[]> {
    const found: { name: string; dir: string }[] = [];
    for (const name of await this.folders(path)) {
      const dir = join(path, name);
      if (await this.isFile(join(dir, "SKILL.md"))) found.push({ name, dir });
      else
        for (const inner of await this.folders(dir))
          if (await this.isFile(join(dir, inner, "SKILL.md"))) found.push({ name: inner, dir: join(dir, inner) });
    }
    for (const { dir } of found) await this.lookThrough(dir, DEEPEST_SKILL);
    return found;
  }

  private async names(path: string, kind: "file" | "directory"): Promise<string[]> {
    const { entries, more } = await listBelow({ root: this.dir, path, most: MOST_NAMES });
    if (more) this.pass(path, `It holds more than ${MOST_NAMES} names; the rest was left out.`);
    if (entries.length === 0 && !(await this.isFolder(path))) {
      const found = await readBelow({ root: this.dir, path, most: 0 });
      if (found.state !== "none") this.pass(path, await this.whyNot(path, LARGEST));
    }
    for (const entry of entries) {
      if (entry.kind === "link") this.pass(join(path, entry.name), LINK);
      if (entry.kind === "other") this.pass(join(path, entry.name), NO_FILE);
    }
    return entries.filter((entry) => entry.kind === kind).map(({ name }) => name);
  }

  /** A skill is copied later, without its links and pipes: they are listed here. */
  private async lookThrough(path: string, deepest: number): Promise<void> {
    const folders = await this.names(path, "directory");
    if (deepest > 0) for (const name of folders) await this.lookThrough(join(path, name), deepest - 1);
  }

  private async whyNot(path: string, most: number): Promise<string> {
    const kind = await kindBelow({ root: this.dir, path });
    if (kind === "other") return NO_FILE;
    if (kind === "file") return `It is larger than ${Math.round(most / MB)} MB.`;
    return kind === "directory" ? "It is a folder, not a file." : LINK;
  }

  private pass(path: string, why: string): void {
    if (this.passed.size < MOST_NAMES && !this.passed.has(path)) this.passed.set(path, why);
  }
}
