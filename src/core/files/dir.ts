/**
 * An open directory. Everything below it is named relative to the open handle, so a directory that is renamed or
 * replaced by a symbolic link between a check and its use changes nothing: the handle stays with the directory.
 *
 * FILES-9: `enter` and `openFile` never follow a symbolic link.
 * FILES-10: on Linux names are resolved by the kernel relative to the handle (`/proc/self/fd/<n>/<name>`: Node has no openat).
 * FILES-11: elsewhere the real path is verified before and after each use. That narrows the window, it does not close it.
 */
import { constants, type Dirent, existsSync } from "node:fs";
import { type FileHandle, mkdir, open, opendir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { outside } from "./failure.ts";

export type How = "handles" | "realpath";

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
// Opening a pipe must not wait for its other end, opening a terminal must not adopt it.
const FILE = constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

export interface DirEntry {
  name: string;
  kind: "file" | "directory" | "link" | "other";
}

export class Dir {
  readonly handle: FileHandle;
  private readonly path: string;
  private readonly how: How;

  private constructor(handle: FileHandle, path: string, how: How) {
    this.handle = handle;
    this.path = path;
    this.how = how;
  }

  /** `path` must be a real path: nothing in it is a symbolic link. */
  static async open(path: string, how: How = bestWay()): Promise<Dir> {
    const dir = new Dir(await open(path, DIRECTORY), path, how);
    return dir.checked(dir);
  }

  /** Where the operating system finds `name` of this directory right now. Use at once, do not keep. */
  async at(name: string): Promise<string> {
    if (this.how === "handles") return `/proc/self/fd/${this.handle.fd}/${name}`;
    await this.check();
    return join(this.path, name);
  }

  /** This directory itself, as a path for calls that take one (a child's working directory). */
  async self(): Promise<string> {
    return this.how === "handles" ? `/proc/self/fd/${this.handle.fd}` : this.at(".");
  }

  /** A directory in this one. The caller closes it. */
  async enter(name: string): Promise<Dir> {
    const handle = await open(await this.at(name), DIRECTORY);
    const dir = new Dir(handle, join(this.path, name), this.how);
    return dir.checked(dir);
  }

  /** Makes a directory here; one that is there already is fine. Durable when it resolves. */
  async make(name: string): Promise<void> {
    await mkdir(await this.at(name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    await this.handle.sync();
  }

  /** A file in this directory, opened without following or waiting. The caller closes it. */
  async openFile(name: string, flags: number, mode?: number): Promise<FileHandle> {
    const file = await open(await this.at(name), flags | FILE, mode);
    return this.checked(file);
  }

  /** Names and kinds, sorted, at most `most` of them; `more` when there are others. */
  async entries(most: number): Promise<{ entries: DirEntry[]; more: boolean }> {
    const entries: DirEntry[] = [];
    for await (const entry of await opendir(await this.self(), { bufferSize: 256 })) {
      if (entries.length >= most) return { entries: entries.sort(byName), more: true };
      const kind = readKind(entry);
      entries.push({ name: entry.name, kind });
    }
    return { entries: entries.sort(byName), more: false };
  }

  /** The same directory has the same identity under any name: device and inode. */
  async identity(): Promise<string> {
    const { dev, ino } = await this.handle.stat({ bigint: true });
    return `${dev}:${ino}`;
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  /** FILES-11: the path must still be real and must still be this directory. */
  private async check(): Promise<void> {
    if (this.how === "handles") return;
    const [real, now, own] = await Promise.all([
      realpath(this.path),
      stat(this.path, { bigint: true }),
      this.handle.stat({ bigint: true }),
    ]);
    if (real !== this.path || now.dev !== own.dev || now.ino !== own.ino) {
      throw outside(this.path, "was replaced while it was used");
    }
  }

  private async checked<T extends { close(): Promise<void> }>(opened: T): Promise<T> {
    try {
      await this.check();
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }
}

function bestWay(): How {
  return process.platform === "linux" && existsSync("/proc/self/fd") ? "handles" : "realpath";
}

function byName(a: DirEntry, b: DirEntry): number {
  if (a.name < b.name) return -1;
  if (a.name > b.name) return 1;
  return 0;
}

function readKind(entry: Dirent): DirEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
}
