/**
 * Symbolic links and folders as things of their own: looked at, made and taken away, never followed. A link may point anywhere; only
 * what it says is read and written.
 */
import { createHash } from "node:crypto";
import { lstat, readlink, rename, rmdir, symlink, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { AppError } from "../domain/errors.ts";
import type { Dir } from "./dir.ts";
import { errno, wrongInput } from "./failure.ts";
import { withInside } from "./inside.ts";

interface Place {
  root: string;
  path: string;
}

/** What stands at a path that is no file. `path` is below the root, and no folder on the way to it is a link. */
export type NoFile = { path: string; kind: "link"; target: string } | { path: string; kind: "folder"; mode: number };

/** Nothing for a file, for nothing, and for a place that cannot be looked at. */
export async function readNoFile(at: Place): Promise<NoFile | undefined> {
  try {
    return await beside(at, async (dir, name, path) => {
      const there = await dir.at(name);
      const stats = await lstat(there);
      if (stats.isSymbolicLink()) return { path, kind: "link", target: await readlink(there) };
      return stats.isDirectory() ? { path, kind: "folder", mode: stats.mode } : undefined;
    });
  } catch (error) {
    if (error instanceof AppError || errno(error)) return undefined;
    throw error;
  }
}

/** Makes the link in one step, in the place of a file or link that is there. The same tag on every try of the same write. */
export async function makeLink(at: Place & { target: string; tag: string }): Promise<void> {
  const temp = `.lares-${createHash("sha256").update(at.tag).digest("hex").slice(0, 16)}.tmp`;
  await withInside({ root: at.root, path: `${dirname(at.path)}/${temp}`, parents: "make" }, async (inside) => {
    const { dir, name } = inside.parent();
    await unlink(await dir.at(name)).catch(ignoreMissing);
    await symlink(at.target, await dir.at(name));
    await rename(await dir.at(name), await dir.at(basename(at.path))).catch(async (error) => {
      await unlink(await dir.at(name)).catch(ignoreMissing);
      throw errno(error) ? wrongInput(`There is a folder at "${at.path}".`) : error;
    });
    await dir.handle.sync();
  });
}

/** One that is there already is fine. */
export async function makeFolder(at: Place & { mode: number }): Promise<void> {
  await withInside({ root: at.root, path: `${at.path}/x`, parents: "make" }, async () => {});
  await beside(at, async (dir, name) => {
    const below = await dir.enter(name);
    try {
      await below.handle.chmod(at.mode & 0o777);
      await below.handle.sync();
    } finally {
      await below.close();
    }
  });
}

/** Takes a link or an empty folder away. Returns whether one was there. Throws for a folder with something in it. */
export async function removeNoFile(at: Place): Promise<boolean> {
  const found = await readNoFile(at);
  if (!found) return false;
  await beside(at, async (dir, name) => {
    const there = await dir.at(name);
    if (found.kind === "link") await unlink(there).catch(ignoreMissing);
    else
      await rmdir(there).catch((error) => {
        throw errno(error) === "ENOTEMPTY" ? wrongInput(`"${at.path}" has something in it.`) : error;
      });
    await dir.handle.sync();
  });
  return true;
}

/** Opens the folder something stands in. */
async function beside<T>(at: Place, use: (dir: Dir, name: string, path: string) => Promise<T>): Promise<T> {
  const name = basename(at.path);
  if (name === "" || name === "." || name === "..") throw wrongInput(`"${at.path}" names no file.`);
  return withInside({ root: at.root, path: dirname(at.path) }, async (inside) =>
    use(inside.directory(), name, inside.path === "." ? name : `${inside.path}/${name}`),
  );
}

function ignoreMissing(error: unknown): void {
  if (errno(error) !== "ENOENT") throw error;
}
