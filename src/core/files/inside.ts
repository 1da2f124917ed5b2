/**
 * THE path type: a place proven to be inside a root, held by an open directory until `close`. There is no other way to a
 * file that somebody else may have put there: a model's path, a workspace, a folder to import, a folder that people edit.
 *
 * FILES-4: only regular files are read or written; devices, pipes and sockets are refused.
 * FILES-5: a regular file with other names (hard links) is not written: one of them may lie outside.
 * FILES-6: no read takes more than it was asked for, even from a file that grows while it is read.
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, unlink } from "node:fs/promises";
import { join } from "node:path";
import { defined } from "../kit/defined.ts";
import { discard, writeAtomic } from "./atomic.ts";
import type { Dir, DirEntry, How } from "./dir.ts";
import { notFound, outside, translate, wrongInput } from "./failure.ts";
import { type Links, locate, type Parents, type Spot } from "./locate.ts";

export interface OpenOptions {
  /** Directories on the way that are not there: `need` refuses (default), `make` creates, `imagine` only names them. */
  parents?: Parents;
  /** Symbolic links that stay inside the root: `inside` follows them (default), `refuse` takes none. */
  links?: Links;
  how?: How;
  /** Show its whole path instead of the one below the root: for places that relative paths don't start from. */
  isShownWhole?: boolean;
}

/** Proves that `path` is inside `root` and holds on to it. Throws PATH_OUTSIDE, NOT_FOUND or TOOL_INPUT. Close it. */
export async function openInside(root: string, path: string, options: OpenOptions = {}): Promise<Inside> {
  try {
    return new Inside(await locate(root, path, options), path, options.isShownWhole);
  } catch (error) {
    throw translate(error, path);
  }
}

/** Opens, uses, closes. */
export async function withInside<T>(
  at: { root: string; path: string } & OpenOptions,
  use: (inside: Inside) => Promise<T>,
): Promise<T> {
  const inside = await openInside(at.root, at.path, at);
  try {
    return await use(inside);
  } finally {
    await inside.close();
  }
}

export class Inside {
  /** As it is shown: below the root, without links, "." for the root; or the whole path, where that was asked for. */
  readonly path: string;
  readonly absolute: string;
  /** Real path of the root. */
  readonly root: string;
  private readonly spot: Spot;
  private readonly given: string;

  constructor(spot: Spot, given: string, isShownWhole = false) {
    this.spot = spot;
    this.given = given;
    this.root = spot.root;
    this.absolute = join(spot.root, ...spot.names);
    this.path = isShownWhole ? this.absolute : spot.names.join("/") || ".";
  }

  /** What the names in this folder are shown behind. */
  get prefix(): string {
    if (this.path === ".") return "";
    return this.path.endsWith("/") ? this.path : `${this.path}/`;
  }

  /** Nothing in `path` was named by somebody else: no link led to a name that the caller did not write. */
  get isAsGiven(): boolean {
    const given = new Set(this.given.split("/"));
    return this.spot.names.every((name) => given.has(name));
  }

  get kind(): "file" | "directory" | "missing" | "other" {
    const stats = this.spot.stats;
    if (!stats) return "missing";
    if (stats.isFile()) return "file";
    if (stats.isDirectory()) return "directory";
    return "other";
  }

  /** What was there when it was opened; undefined when nothing was. */
  stat(): Stats | undefined {
    return this.spot.stats;
  }

  /** The open directory this is. Belongs to this object: do not close it. Throws when it is none. */
  directory(): Dir {
    if (this.kind === "missing") throw notFound(this.given);
    if (this.kind !== "directory" || !this.spot.dir) throw wrongInput(`"${this.path}" is not a directory.`);
    return this.spot.dir;
  }

  /** The open directory that holds this file. Belongs to this object. */
  parent(): { dir: Dir; name: string } {
    const { dir, name } = this.spot;
    if (!dir) throw notFound(this.given);
    if (name === null) throw wrongInput(`"${this.path}" is a directory.`, "See what is in it with list.");
    return { dir, name };
  }

  /** The file, for reading. The caller closes it. */
  async open(): Promise<FileHandle> {
    return this.translated(async () => {
      if (this.kind === "missing") throw notFound(this.given);
      const { dir, name } = this.parent();
      if (this.kind === "other") throw this.special();
      return openRegular(dir, name, () => this.special());
    });
  }

  /** The whole content; refuses files above `most` bytes. */
  async readFile(most: number): Promise<Buffer> {
    const file = await this.open();
    try {
      const { size } = await file.stat();
      if (size > most)
        throw wrongInput(
          `"${this.path}" has ${size} bytes; at most ${most} are allowed here.`,
          "Work on a part of it with exec.",
        );
      const { bytes, more } = await this.translated(() => readUpTo(file, most, size));
      if (more) throw wrongInput(`"${this.path}" grew to more than ${most} bytes while it was read.`);
      return bytes;
    } finally {
      await file.close();
    }
  }

  /** The first `most` bytes; `more` when there are others. */
  async readStart(most: number): Promise<{ bytes: Buffer<ArrayBuffer>; more: boolean }> {
    const file = await this.open();
    try {
      const { size } = await file.stat();
      return await this.translated(() => readUpTo(file, most, size));
    } finally {
      await file.close();
    }
  }

  /** A new, empty file in the place of any that is there, for writing as it comes. The caller closes it. */
  async openFresh(mode: number): Promise<FileHandle> {
    await this.remove();
    this.checkParent();
    const { dir, name } = this.parent();
    return this.translated(() => dir.openFile(name, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode));
  }

  /** Replaces or creates the file (FILES-7). `tag` is the same on every try of the same write; `mode` is for a new file. */
  async writeAtomic(content: string | Uint8Array, tag: string, mode?: number): Promise<void> {
    this.checkWritable();
    const { dir, name } = this.parent();
    const old = this.spot.stats;
    const keep = defined({ old, mode });
    await this.translated(() => writeAtomic({ dir, name, content, tag, ...keep }));
  }

  /** Takes the file away; durable when it resolves. One that is gone already is fine. */
  async remove(): Promise<void> {
    if (this.kind === "missing") return;
    if (this.kind === "directory") throw wrongInput(`"${this.path}" is a directory.`);
    const { dir, name } = this.parent();
    if (this.kind === "other") throw this.special();
    await this.translated(async () => {
      await unlink(await dir.at(name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
      });
      await dir.handle.sync();
    });
  }

  /** Refuses what must not be written (FILES-3, FILES-4, FILES-5). */
  checkWritable(): void {
    this.checkParent();
    if (this.kind === "directory") throw wrongInput(`"${this.path}" is a directory.`);
    if (this.kind === "other") throw this.special();
    if (this.spot.stats && this.spot.stats.nlink > 1) {
      throw outside(this.given, "has other names (hard links), one of which may be outside the workspace");
    }
  }

  private checkParent(): void {
    if (this.spot.dangling) throw outside(this.given, "is a symbolic link to something that does not exist");
  }

  /** Takes away the temporary file of a killed write. */
  async discard(tag: string): Promise<void> {
    if (this.spot.dir && this.spot.name !== null) await discard(this.spot.dir, tag);
  }

  async list(most: number): Promise<{ entries: DirEntry[]; more: boolean }> {
    const dir = this.directory();
    return this.translated(() => dir.entries(most));
  }

  async close(): Promise<void> {
    await this.spot.dir?.close();
  }

  private special() {
    return wrongInput(`"${this.path}" is a device, pipe or socket, not a file.`);
  }

  private async translated<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      throw translate(error, this.given);
    }
  }
}

/** Opens a regular file of an open directory for reading; what was checked is what was opened. */
export async function openRegular(dir: Dir, name: string, refuse: () => Error): Promise<FileHandle> {
  const file = await dir.openFile(name, constants.O_RDONLY);
  try {
    if ((await file.stat()).isFile()) return file;
    throw refuse();
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** At most `most` bytes (FILES-6). `size` is a guess: some files say 0 and have content, others grow. */
async function readUpTo(
  file: FileHandle,
  most: number,
  size: number,
): Promise<{ bytes: Buffer<ArrayBuffer>; more: boolean }> {
  // One byte more than expected tells the end of the file from a file that goes on.
  let buffer = Buffer.allocUnsafe(Math.min(size, most) + 1);
  let at = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, at, buffer.length - at, at);
    at += bytesRead;
    if (bytesRead === 0 || at > most) break;
    if (at === buffer.length) {
      const wider = Buffer.allocUnsafe(Math.min(Math.max(2 * at, 64 * 1024), most + 1));
      buffer.copy(wider, 0, 0, at);
      buffer = wider;
    }
  }
  return { bytes: buffer.subarray(0, Math.min(at, most)), more: at > most };
}
