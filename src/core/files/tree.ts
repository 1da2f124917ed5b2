/**
 * A walk down a directory tree over open directories: sorted, bounded, never through a symbolic link. What the consumer
 * gets holds the open directory, so a file is opened in the directory it was seen in.
 */
import type { Dir, DirEntry } from "./dir.ts";
import { errno } from "./failure.ts";

/** Names read of one directory unless told otherwise; a directory with more is cut and said to be. */
const MOST_NAMES = 10_000;

export interface TreeEntry extends DirEntry {
  /** Below the start of the walk. */
  path: string;
  /** Open while this entry is looked at, closed afterwards. */
  dir: Dir;
  /** How deep below the start; direct entries are 1. */
  depth: number;
}

export interface TreeOptions {
  depth: number;
  /** Directories that are shown and not entered. */
  closed: { has(name: string): boolean };
  /** Names read of one directory. */
  names?: number;
  /** Called for a directory that has more names than are read. */
  onMore?: (path: string) => void;
}

export async function* walkTree(dir: Dir, options: TreeOptions, at = "", depth = 1): AsyncGenerator<TreeEntry> {
  const { entries, more } = await dir.entries(options.names ?? MOST_NAMES);
  if (more) options.onMore?.(at || ".");
  for (const entry of entries) {
    const path = at ? `${at}/${entry.name}` : entry.name;
    yield { ...entry, path, dir, depth };
    if (entry.kind !== "directory" || depth >= options.depth || options.closed.has(entry.name)) continue;
    const below = await enter(dir, entry.name);
    if (!below) continue;
    try {
      yield* walkTree(below, options, path, depth + 1);
    } finally {
      await below.close();
    }
  }
}

/** Gone, not accessible, or replaced by something else since it was listed: it is skipped. */
async function enter(dir: Dir, name: string): Promise<Dir | undefined> {
  try {
    return await dir.enter(name);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM"].includes(errno(error) ?? "")) return undefined;
    throw error;
  }
}
