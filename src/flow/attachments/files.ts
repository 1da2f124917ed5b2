/** The bytes of attachments: one folder of the home, files under generated names, readable by the owner alone. */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { type FileHandle, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../core/domain/index.ts";
import { withInside } from "../../core/files/index.ts";
import { syncFolder, syncFolderNow } from "../../core/kit/index.ts";

/** The form of ids we generate. Anything else isn't even looked up. */
const ID = /^at_[0-9a-z]{26}$/;

export class Files {
  private readonly folder: string;

  constructor(home: string) {
    this.folder = join(home, "attachments");
    if (mkdirSync(this.folder, { recursive: true, mode: 0o700 }) !== undefined) syncFolderNow(home);
  }

  /** Writes the stream, durable when it resolves; on any failure, nothing is left behind. */
  async write(
    id: string,
    body: AsyncIterable<Uint8Array>,
    look: (chunk: Uint8Array) => void,
  ): Promise<{ bytes: number; sha256: string }> {
    const hash = createHash("sha256");
    let bytes = 0;
    let file: FileHandle | undefined;
    try {
      file = await open(this.path(id), "wx", 0o600);
      for await (const chunk of body) {
        look(chunk);
        bytes += chunk.length;
        hash.update(chunk);
        await file.write(chunk);
      }
      await file.sync();
      await file.close();
      await syncFolder(this.folder);
    } catch (error) {
      await file?.close().catch(() => {});
      await this.remove(id);
      throw isFull(error) ? noRoom(error) : error;
    }
    return { bytes, sha256: hash.digest("hex") };
  }

  /** The first `most` bytes. Nothing when there is no such file; a link is never followed (FS-11). */
  async read(id: string, most: number): Promise<Buffer<ArrayBuffer> | undefined> {
    if (!ID.test(id)) return undefined;
    try {
      return await withInside({ root: this.folder, path: id, links: "refuse" }, async (inside) => {
        return (await inside.readStart(most)).bytes;
      });
    } catch {
      return undefined;
    }
  }

  /** Removing what is not there is fine. */
  async remove(id: string): Promise<void> {
    await unlink(this.path(id)).catch(() => {});
  }

  async list(): Promise<string[]> {
    return (await readdir(this.folder).catch(() => [])).filter((name) => ID.test(name));
  }

  private path(id: string): string {
    if (!ID.test(id)) throw new Error(`not an attachment's id: ${id}`);
    return join(this.folder, id);
  }
}

function isFull(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === "ENOSPC" || code === "EDQUOT";
}

function noRoom(cause: unknown): AppError {
  return new AppError("STORAGE_FULL", {
    message: "There's no space on the disk for this file.",
    hint: "Free some space and send it again.",
    retry: "later",
    cause,
  });
}
