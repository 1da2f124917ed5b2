/**
 * Contents by their hash, as files in the home. A file is complete or absent: written under a temporary name, flushed, then
 * renamed. The same content is stored once.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile, syncFolder } from "../../core/kit/index.ts";

export function hashContent(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

export class Blobs {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Durable when it resolves. */
  async put(hash: string, content: Uint8Array): Promise<void> {
    const shelf = join(this.folder, hash.slice(0, 2));
    const file = join(shelf, hash);
    if (await stat(file).catch(() => undefined)) return;
    const made = await mkdir(shelf, { recursive: true, mode: 0o700 });
    if (made !== undefined) for (const above of [this.folder, dirname(this.folder)]) await syncFolder(above);
    await replaceFile(file, content);
  }

  /** The content, or nothing when it is not kept or not what its name says. */
  async get(hash: string): Promise<Buffer | undefined> {
    const content = await readFile(join(this.folder, hash.slice(0, 2), hash)).catch(() => undefined);
    return content && hashContent(content) === hash ? content : undefined;
  }

  async drop(hash: string): Promise<void> {
    await rm(join(this.folder, hash.slice(0, 2), hash), { force: true });
  }

  /**
   * Deletes files without a record, left by a crash between the file and its record. Recent ones are kept, because their record
   * may be about to be written.
   */
  async sweep(known: ReadonlySet<string>, olderThan: number): Promise<void> {
    for (const shelf of await readdir(this.folder).catch(() => [])) {
      for (const name of await readdir(join(this.folder, shelf)).catch(() => [])) {
        if (known.has(name)) continue;
        const file = join(this.folder, shelf, name);
        const stats = await stat(file).catch(() => undefined);
        if (stats && stats.mtimeMs < olderThan) await rm(file, { force: true });
      }
    }
  }
}
