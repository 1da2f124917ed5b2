/** The files of a folder that somebody else may have made, read through the path type. */
import { realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { openRegular, walkTree, withInside } from "../../../core/files/index.ts";
import { checkPath, DEEPEST, MOST_BYTES, MOST_FILES, type PluginFile, refuse, tooLarge, tooMany } from "./files.ts";

/** Not part of a plugin, wherever it came from. */
const LEFT_OUT = new Set([".git", ".hg", ".svn"]);

export interface FolderRead {
  files: PluginFile[];
  /** Links that stay inside: they are left out. */
  links: string[];
}

export async function readPluginFolder(root: string): Promise<FolderRead> {
  const read: FolderRead = { files: [], links: [] };
  let left = MOST_BYTES;
  await withInside({ root, path: "." }, async (inside) => {
    const real = inside.absolute;
    const onMore = () => {
      throw tooMany();
    };
    for await (const entry of walkTree(inside.directory(), { depth: DEEPEST, closed: LEFT_OUT, onMore })) {
      if (entry.path.split("/").some((name) => LEFT_OUT.has(name))) continue;
      if (entry.kind === "link") {
        if (!(await staysBelow(real, entry.path))) throw refuse(`"${entry.path}" is a link that leads out of it`);
        read.links.push(entry.path);
      }
      if (entry.kind === "other") throw refuse(`"${entry.path}" isn't a plain file`);
      if (entry.kind === "directory" && entry.depth >= DEEPEST) throw refuse(`"${entry.path}" is nested too deeply`);
      if (entry.kind !== "file") continue;
      if (read.files.length >= MOST_FILES) throw tooMany();
      const file = await openRegular(entry.dir, entry.name, () => refuse(`"${entry.path}" isn't a plain file`));
      try {
        const { size, mode } = await file.stat();
        if (size > left) throw tooLarge();
        const content = Buffer.alloc(size);
        const { bytesRead } = size > 0 ? await file.read(content, 0, size, 0) : { bytesRead: 0 };
        left -= bytesRead;
        read.files.push({
          path: checkPath(entry.path),
          content: content.subarray(0, bytesRead),
          isProgram: (mode & 0o100) !== 0,
        });
      } finally {
        await file.close();
      }
    }
  });
  return read;
}

async function staysBelow(root: string, path: string): Promise<boolean> {
  const target = await realpath(join(root, path)).catch(() => undefined);
  return target !== undefined && (target === root || target.startsWith(root + sep));
}
