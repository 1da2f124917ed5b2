/**
 * A folder of another system. Somebody may have made it for us: plain files only, never over a link that leads out of it, never
 * waiting for a pipe, so many bytes each and altogether.
 */
import { join } from "node:path";
import { kindBelow, listBelow, textBelow } from "../../core/files/index.ts";

/** Settings, notes and instructions. */
const LARGEST = 1024 * 1024;
/** A transcript of a long life; more is not read at once. */
export const LARGEST_TRANSCRIPT = 64 * 1024 * 1024;
/** Everything together has to fit into memory until it is taken over. */
const LARGEST_SUM = 256 * 1024 * 1024;
const MOST_NAMES = 10_000;

export class ForeignFolder {
  /** Absolute. All paths given to the methods are absolute and below it, or they are not there. */
  readonly dir: string;
  private left = LARGEST_SUM;

  constructor(dir: string) {
    this.dir = dir;
  }

  /** Nothing for what is not a plain file of a usual size. */
  async text(path: string, most = LARGEST): Promise<string | undefined> {
    const found = await textBelow({ root: this.dir, path, most: Math.min(most, this.left) });
    this.left -= found?.length ?? 0;
    return found;
  }

  /** Names of the folders in a folder, in order. Hidden ones are not looked at. */
  async folders(path: string): Promise<string[]> {
    return (await this.names(path, "directory")).filter((name) => !name.startsWith("."));
  }

  files(path: string): Promise<string[]> {
    return this.names(path, "file");
  }

  async isFile(path: string): Promise<boolean> {
    return (await kindBelow({ root: this.dir, path })) === "file";
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
    return found;
  }

  private async names(path: string, kind: "file" | "directory"): Promise<string[]> {
    const { entries } = await listBelow({ root: this.dir, path, most: MOST_NAMES });
    return entries.filter((entry) => entry.kind === kind).map(({ name }) => name);
  }
}
