/**
 * An agent's files for those who keep and restore them: the same path type as the tools, so that a copy is never taken of, nor
 * put to, a place outside the root.
 */
import { lstat } from "node:fs/promises";
import { AppError } from "../../../core/domain/index.ts";
import { errno } from "./failure.ts";
import { withInside } from "./inside.ts";
import { walkTree } from "./tree.ts";

/** What stands at a path. `path` is below the root, without links. */
export type Standing =
  | { path: string; state: "file"; content: Buffer; mode: number }
  | { path: string; state: "none" }
  /** A directory, a device, something outside, or larger than asked for. */
  | { path: string; state: "refused"; why: string };

/** Not looked into: their contents are many, made by programs, and their own history. */
const CLOSED = new Set([".git", "node_modules", ".lares"]);
/** Deeper than any tree people make by hand. */
const DEPTH = 24;

export function createAgentFiles() {
  return {
    /** Never throws for what stands there. `path` may be absolute, below the root. */
    async read(root: string, path: string, most: number): Promise<Standing> {
      try {
        return await withInside({ root, path, parents: "imagine" }, async (inside): Promise<Standing> => {
          const stats = inside.stat();
          if (!stats) return { path: inside.path, state: "none" };
          if (inside.kind !== "file") return { path: inside.path, state: "refused", why: "it is not a plain file" };
          if (stats.size > most) return { path: inside.path, state: "refused", why: `it has more than ${most} bytes` };
          return { path: inside.path, state: "file", content: await inside.readFile(most), mode: stats.mode };
        });
      } catch (error) {
        if (error instanceof AppError) return { path, state: "refused", why: error.message };
        throw error;
      }
    },

    /** Replaces or creates the file in one step. The same tag on every try of the same write. */
    async write(root: string, path: string, content: Buffer, how: { tag: string; mode?: number }): Promise<void> {
      await withInside({ root, path, parents: "make" }, (inside) => inside.writeAtomic(content, how.tag, how.mode));
    },

    /** Takes the file away. One that is gone already is fine. */
    async remove(root: string, path: string): Promise<void> {
      await withInside({ root, path, parents: "imagine" }, (inside) => inside.remove());
    },

    /** Every file by size, times and identity, without reading one; `more`: there are more than `most`. */
    async manifest(root: string, most: number): Promise<{ files: Map<string, string>; more: boolean }> {
      const files = new Map<string, string>();
      let more = false;
      const onMore = () => {
        more = true;
      };
      await withInside({ root, path: "." }, async (inside) => {
        for await (const entry of walkTree(inside.directory(), { depth: DEPTH, closed: CLOSED, onMore })) {
          if (entry.kind !== "file") continue;
          if (files.size >= most) return onMore();
          try {
            const { size, mtimeMs, ctimeMs, ino } = await lstat(await entry.dir.at(entry.name));
            files.set(entry.path, `${size}:${mtimeMs}:${ctimeMs}:${ino}`);
          } catch (error) {
            // Gone since it was listed.
            if (errno(error) !== "ENOENT") throw error;
          }
        }
      });
      return { files, more };
    },
  };
}
