/**
 * An agent's files for those who keep and restore them: the same path type as the tools, so that a copy is never taken of, nor
 * put to, a place outside the root.
 */
import { type FileState, filesBelow, markFile, readBelow, withInside, writeBelow } from "../../../core/files/index.ts";

/** Not looked into: their contents are many, made by programs, and their own history. */
const CLOSED = new Set([".git", "node_modules", ".lares"]);
/** Deeper than any tree people make by hand. */
const DEPTH = 24;

export function createAgentFiles() {
  return {
    /** Never throws for what stands there. `path` may be absolute, below the root. */
    read(root: string, path: string, most: number): Promise<FileState> {
      return readBelow({ root, path, most });
    },

    /** Replaces or creates the file in one step. The same tag on every try of the same write. */
    async write(root: string, path: string, content: Buffer, how: { tag: string; mode?: number }): Promise<void> {
      await writeBelow({ root, path, content, ...how });
    },

    /** Takes the file away. One that is gone already is fine. */
    async remove(root: string, path: string): Promise<void> {
      await withInside({ root, path, parents: "imagine" }, (inside) => inside.remove());
    },

    /** Every file by size, times and identity, without reading one; `more`: there are more than `most`. */
    async manifest(root: string, most: number): Promise<{ files: Map<string, string>; more: boolean }> {
      const { files, more } = await filesBelow(root, { most, depth: DEPTH, closed: CLOSED });
      const marks = files.map((one) => [one.path, markFile(one)] as const);
      return { files: new Map(marks), more };
    },
  };
}
