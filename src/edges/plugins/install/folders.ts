/** The folder `plugins` in the home: quarantine, store and data. Only Lares writes there, and a sandbox shows a plugin its own part. */
import { mkdir, open, rename, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { listBelow, removeTree } from "../../../core/files/index.ts";
import type { PluginFile } from "./files.ts";
import { digestFiles, digestPlugin } from "./files.ts";
import { readPluginFolder } from "./folder.ts";
import type { PluginLock } from "./lock.ts";

/** Enough of a digest to tell versions of one plugin apart. */
const SHOWN_DIGEST = 16;
const MOST_ENTRIES = 10_000;

export class PluginFolders {
  readonly dir: string;

  constructor(home: string) {
    this.dir = join(home, "plugins");
  }

  quarantine(digest: string): string {
    return join(this.dir, "quarantine", digest);
  }

  stored({ name, digest }: { name: string; digest: string }): string {
    return join(this.dir, "store", storedName(name, digest));
  }

  data(name: string): string {
    return join(this.dir, "data", name);
  }

  async make(): Promise<void> {
    for (const name of ["quarantine", "store", "data"])
      await mkdir(join(this.dir, name), { recursive: true, mode: 0o700 });
  }

  async makeData(name: string): Promise<string> {
    await mkdir(this.data(name), { recursive: true, mode: 0o700 });
    return this.data(name);
  }

  /** A folder for what git brings, removed by the caller. */
  scratch(id: string): { root: string; path: string } {
    return { root: this.dir, path: `quarantine/.${id}` };
  }

  /** The names were checked when the files were read. */
  async writeQuarantine(digest: string, files: readonly PluginFile[]): Promise<void> {
    await removeTree({ root: this.dir, path: `quarantine/${digest}` });
    const root = this.quarantine(digest);
    await mkdir(root, { recursive: true, mode: 0o700 });
    for (const { path, content, isProgram } of files) {
      const at = join(root, path);
      await mkdir(dirname(at), { recursive: true, mode: 0o700 });
      const file = await open(at, "wx", isProgram ? 0o700 : 0o600);
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
    }
  }

  /** Moves a plugin from the quarantine to the store in one step; the lock doesn't name it yet. */
  async store(plugin: { name: string; digest: string }): Promise<void> {
    await removeTree({ root: this.dir, path: `store/${storedName(plugin.name, plugin.digest)}` });
    await rename(this.quarantine(plugin.digest), this.stored(plugin));
    const folder = await open(join(this.dir, "store"), "r");
    await folder.sync().finally(() => folder.close());
  }

  async discard(digest: string): Promise<void> {
    await removeTree({ root: this.dir, path: `quarantine/${digest}` });
  }

  /** The digest of what is there now. Throws when that can't be a plugin any more. */
  async digest(root: string): Promise<string> {
    return digestPlugin(digestFiles((await readPluginFolder(root)).files));
  }

  /** Removes what the lock doesn't name: half of an install, the old version after an update, the rest of a removal. */
  async sweep(lock: PluginLock, waiting: Iterable<string> = []): Promise<void> {
    const kept = new Set(waiting);
    const named = new Set(Object.entries(lock.plugins).map(([name, { digest }]) => storedName(name, digest)));
    for (const path of await this.#entries("store"))
      if (!named.has(path)) await removeTree({ root: this.dir, path: `store/${path}` });
    for (const path of await this.#entries("quarantine"))
      if (!kept.has(path)) await removeTree({ root: this.dir, path: `quarantine/${path}` });
    for (const { name, deletesData } of lock.leaving) {
      if (name in lock.plugins) continue;
      if (deletesData) await removeTree({ root: this.dir, path: `data/${name}` });
      // A folder in which nothing was stored is no data.
      else await rmdir(this.data(name)).catch(() => undefined);
    }
  }

  async #entries(path: string): Promise<string[]> {
    return (await listBelow({ root: this.dir, path, most: MOST_ENTRIES })).entries.map(({ name }) => name);
  }
}

function storedName(name: string, digest: string): string {
  return `${name}@${digest.slice(0, SHOWN_DIGEST)}`;
}
