/**
 * An agent's files for those who keep and restore them: the same path type as the tools, so that a copy is never taken of, nor
 * put to, a place outside the root.
 */
import { basename } from "node:path";
import {
  type FileState,
  filesBelow,
  type Inside,
  makeFolder,
  makeLink,
  markFile,
  markFolder,
  markLink,
  type NoFile,
  readBelow,
  readNoFile,
  removeNoFile,
  renameBelow,
  withInside,
  writeBelow,
} from "../../../core/files/index.ts";

/** Not looked into: their contents are many, made by programs, and their own history. */
const OWN = ".lares";
const CLOSED = new Set([".git", "node_modules", OWN]);
/** Deeper than any tree people make by hand. */
const DEPTH = 24;

interface ListedFolder {
  files: Map<string, string>;
  closed: Map<string, number>;
  more: boolean;
}

export function createAgentFiles() {
  return {
    /** Never throws for what stands there. `path` may be absolute, below the root; a link in its last place is followed. */
    read(root: string, path: string, most: number): Promise<FileState> {
      return readBelow({ root, path, most });
    },

    /** A link or a folder at that very place; nothing for a file, or where nothing is. */
    readNoFile(root: string, path: string): Promise<NoFile | undefined> {
      return readNoFile({ root, path });
    },

    /** Replaces or creates the file in one step, in the place of a link or an empty folder too. The same tag on every try of the same write. */
    async write(root: string, path: string, content: Buffer, how: { tag: string; mode?: number }): Promise<void> {
      // Through a link the file it points to would be written, and through a hard link one that may lie elsewhere.
      const noFile = (await readNoFile({ root, path }))?.kind;
      if (noFile === "folder") await removeNoFile({ root, path });
      const isShared = noFile === "link" || (await hasOtherNames(root, path));
      const place = isShared ? `${path}.lares-undo` : path;
      await writeBelow({ root, path: place, content, ...how });
      const { mode } = how;
      if (mode !== undefined) await withInside({ root, path: place }, (inside) => setMode(inside, mode));
      if (isShared) await renameBelow({ root, path: place, to: basename(path) });
    },

    async link(root: string, path: string, target: string, tag: string): Promise<void> {
      if ((await readNoFile({ root, path }))?.kind === "folder") await removeNoFile({ root, path });
      await makeLink({ root, path, target, tag });
    },

    /** In the place of a file or link too. */
    async folder(root: string, path: string, mode: number): Promise<void> {
      if ((await readNoFile({ root, path }))?.kind !== "folder") await this.remove(root, path);
      await makeFolder({ root, path, mode });
    },

    /** Takes the file, link or empty folder away. One that is gone already is fine. */
    async remove(root: string, path: string): Promise<void> {
      if (await removeNoFile({ root, path })) return;
      await withInside({ root, path, parents: "imagine" }, (inside) => inside.remove());
    },

    /** Every file by size, times and identity, without reading one, every link and empty folder; `closed`: folders it doesn't look into, by identity; `more`: there are more than `most`. */
    async manifest(root: string, most: number): Promise<ListedFolder> {
      const found = await filesBelow(root, { most, depth: DEPTH, closed: CLOSED });
      const { files, links, emptyFolders, closedFolders, more } = found;
      const marks = new Map(files.map((one) => [one.path, markFile(one)]));
      for (const { path, target } of links) marks.set(path, markLink(target));
      for (const { path, mode } of emptyFolders) marks.set(path, markFolder(mode));
      // What Lares keeps in its own folder is no work of the agent's.
      const closed = new Map(
        closedFolders.filter((one) => basename(one.path) !== OWN).map((one) => [one.path, one.ino]),
      );
      return { files: marks, closed, more };
    },
  };
}

function hasOtherNames(root: string, path: string): Promise<boolean> {
  const at = { root, path, parents: "imagine" as const };
  return withInside(at, async (inside) => inside.kind === "file" && (inside.stat()?.nlink ?? 1) > 1);
}

async function setMode(inside: Inside, mode: number): Promise<void> {
  const file = await inside.open();
  try {
    await file.chmod(mode & 0o777);
  } finally {
    await file.close();
  }
}
