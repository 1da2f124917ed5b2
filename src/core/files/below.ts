/**
 * Files below a root in one call each, for those who do not need to hold on to a place. Everything goes through the path
 * type; what stands there is an answer, not an error.
 */
import { createWriteStream } from "node:fs";
import { type FileHandle, lstat, readlink, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { AppError } from "../domain/errors.ts";
import type { DirEntry } from "./dir.ts";
import { errno, wrongInput } from "./failure.ts";
import { type Inside, openRegular, withInside } from "./inside.ts";
import type { Links } from "./locate.ts";
import { walkTree } from "./tree.ts";

export interface Below {
  root: string;
  /** Below the root, or absolute and below it. */
  path: string;
  links?: Links;
}

/** What stands at a path. `path` is below the root, without links. */
export type FileState =
  | { path: string; state: "file"; content: Buffer; mode: number }
  | { path: string; state: "none" }
  /** A directory, a device, something outside, or larger than asked for. */
  | { path: string; state: "refused"; why: string };

/** The whole file. Never throws for what stands there; one with more than `most` bytes is refused. */
export function readBelow(at: Below & { most: number }): Promise<FileState> {
  return looked(at, async (inside) => {
    const stats = inside.stat();
    if (!stats) return { path: inside.path, state: "none" };
    if (inside.kind !== "file") return { path: inside.path, state: "refused", why: "it is not a plain file" };
    if (stats.size > at.most) {
      return { path: inside.path, state: "refused", why: `it has more than ${at.most} bytes` };
    }
    return { path: inside.path, state: "file", content: await inside.readFile(at.most), mode: stats.mode };
  });
}

/** The whole file as text, or nothing for whatever cannot be read. */
export async function textBelow(at: Below & { most: number }): Promise<string | undefined> {
  const found = await readBelow(at);
  return found.state === "file" ? found.content.toString("utf8") : undefined;
}

/** Replaces or creates the file in one step, with the directories on the way. The same tag on every try of the same write. */
export async function writeBelow(
  at: Below & { content: string | Uint8Array; tag: string; mode?: number },
): Promise<void> {
  await withInside({ ...at, parents: "make" }, (inside) => inside.writeAtomic(at.content, at.tag, at.mode));
}

/** What is at the path, without opening it. Nothing also for a place that cannot be looked at. */
export async function kindBelow(at: Below): Promise<Inside["kind"]> {
  try {
    return await withInside({ ...at, parents: "imagine" }, async (inside) => inside.kind);
  } catch (error) {
    if (error instanceof AppError || errno(error)) return "missing";
    throw error;
  }
}

/** Names and kinds in a directory, sorted, at most `most`. Nothing when it is none, or lies behind a link that is not taken. */
export async function listBelow(at: Below & { most: number }): Promise<{ entries: DirEntry[]; more: boolean }> {
  const none = { entries: [], more: false };
  try {
    return await withInside({ ...at, parents: "imagine" }, async (inside) =>
      inside.kind === "directory" ? inside.list(at.most) : none,
    );
  } catch (error) {
    if (error instanceof AppError || errno(error)) return none;
    throw error;
  }
}

/** Copies one file to a new file of ours, without holding it in memory. Throws when it is larger than `most`. */
export async function copyBelow(at: Below & { to: string; most: number }): Promise<void> {
  await withInside(at, async (inside) => {
    const file = await inside.open();
    try {
      await pour(file, at.most, async () => createWriteStream(at.to, { flags: "wx", mode: 0o600 }));
    } finally {
      await file.close();
    }
  });
}

/** Copies the plain files of a tree below another root; nothing else is taken. Throws when they are more than `most` bytes. */
export async function copyTree(
  from: string,
  to: Below,
  how: { most: number; depth: number; closed: { has(name: string): boolean } },
): Promise<void> {
  let left = how.most;
  await withInside({ root: from, path: "." }, async (source) => {
    for await (const entry of walkTree(source.directory(), how)) {
      if (entry.kind !== "file") continue;
      const file = await openRegular(entry.dir, entry.name, () => wrongInput(`"${entry.path}" is not a plain file.`));
      try {
        const { mode } = await file.stat();
        const path = `${to.path}/${entry.path}`;
        left -= await pour(file, left, async () => {
          const target = { ...to, path, parents: "make" as const };
          return (await withInside(target, (inside) => inside.openFresh(mode & 0o700))).createWriteStream();
        });
      } finally {
        await file.close();
      }
    }
  });
}

/** Takes a file or a whole directory away; links in it, never what they point to. Nothing there is fine. */
export async function removeTree(at: Below): Promise<void> {
  if ((await kindBelow(at)) === "missing") return;
  await withInside({ ...at, path: dirname(at.path) }, async (inside) => {
    await rm(await inside.directory().at(basename(at.path)), { recursive: true, force: true });
  });
}

/** Another name in the same directory, in one step; durable when it resolves. */
export async function renameBelow(at: Below & { to: string }): Promise<void> {
  await withInside({ ...at, path: dirname(at.path) }, async (inside) => {
    const dir = inside.directory();
    await rename(await dir.at(basename(at.path)), await dir.at(at.to));
    await dir.handle.sync();
  });
}

/**
 * Copies bytes from an open file to a stream, up to a limit: a file that grows while it is copied must not fill the disk. The
 * stream is opened only when the copy begins, because nothing would close one that is never written to.
 */
async function pour(file: FileHandle, most: number, to: () => Promise<NodeJS.WritableStream>): Promise<number> {
  const tooLarge = () => wrongInput(`It has more than ${most} bytes.`);
  if ((await file.stat()).size > most) throw tooLarge();
  let taken = 0;
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      taken += chunk.length;
      if (taken > most) throw tooLarge();
      yield chunk;
    }
  };
  await pipeline(file.createReadStream({ autoClose: false, start: 0 }), counted, await to());
  return taken;
}

/** A symbolic link, as it is written. */
export interface TreeLink {
  path: string;
  target: string;
}

interface TreeFolder {
  path: string;
  mode: number;
}

/** A folder that a walk doesn't look into. */
interface ClosedFolder {
  path: string;
  ino: number;
}

export interface TreeFile {
  /** Below the root of the walk. */
  path: string;
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  ino: number;
}

/** Every plain file below the root by size, times and identity, without opening one. Links are not followed. */
export async function filesBelow(
  root: string,
  how: { most: number; depth: number; closed: { has(name: string): boolean }; names?: number },
): Promise<{
  files: TreeFile[];
  links: TreeLink[];
  emptyFolders: TreeFolder[];
  closedFolders: ClosedFolder[];
  more: boolean;
}> {
  const files: TreeFile[] = [];
  const closedFolders: ClosedFolder[] = [];
  const links: TreeLink[] = [];
  const folders = new Map<string, number>();
  let more = false;
  const onMore = () => {
    more = true;
  };
  await withInside({ root, path: "." }, async (inside) => {
    for await (const entry of walkTree(inside.directory(), { ...how, onMore })) {
      folders.delete(dirname(entry.path));
      if (entry.kind === "other") continue;
      const isClosed = entry.kind === "directory" && !isEntered(entry, how);
      if (!isClosed && files.length + links.length >= how.most) return onMore();
      try {
        const at = await entry.dir.at(entry.name);
        if (entry.kind === "link") links.push({ path: entry.path, target: await readlink(at) });
        else {
          const { size, mtimeMs, ctimeMs, ino, mode } = await lstat(at);
          if (isClosed) closedFolders.push({ path: entry.path, ino });
          else if (entry.kind === "directory") folders.set(entry.path, mode);
          else files.push({ path: entry.path, size, mtimeMs, ctimeMs, ino });
        }
      } catch (error) {
        // Gone since it was listed.
        if (errno(error) !== "ENOENT") throw error;
      }
    }
  });
  const emptyFolders = [...folders].map(([path, mode]) => ({ path, mode }));
  return { files, links, emptyFolders, closedFolders, more };
}

function isEntered(
  { name, depth }: { name: string; depth: number },
  how: { depth: number; closed: { has(name: string): boolean } },
): boolean {
  return depth < how.depth && !how.closed.has(name);
}

async function looked(at: Below, look: (inside: Inside) => Promise<FileState>): Promise<FileState> {
  try {
    return await withInside({ ...at, parents: "imagine" }, look);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // Also when the root itself is not there.
    if (error.code === "NOT_FOUND") return { path: at.path, state: "none" };
    return { path: at.path, state: "refused", why: error.message };
  }
}
