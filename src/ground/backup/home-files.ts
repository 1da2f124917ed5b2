/** What of a home is in a backup: everything people or agents put there, and nothing that is made again by itself. */
import { type FileHandle, lstat, readlink } from "node:fs/promises";
import { openInside, openRegular, type TreeEntry, walkTree, wrongInput } from "../../core/files/index.ts";

/** At the top of the home. The database is copied in its own way; the rest belongs to a running process, or is fetched again. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "lares.db",
  "lares.db-wal",
  "lares.db-shm",
  "lares.lock",
  "lares.lock-journal",
  "lares.pid",
  "gateway.json",
  "in-flight",
  "strikes.json",
  "room.probe",
  // What the process does now, and its own words about it.
  "logs",
  "runs",
  "processes",
  // Programs and libraries that were installed on first use.
  "packages",
  "tools",
  "backups",
  "restoring",
  "restore.json",
]);
/** Where a restore puts what was in the home before it. */
export const ASIDE = "before-restore-";
/** Copied only into an encrypted backup: with them, the folder gives away every secret. */
export const KEY_FILES: readonly string[] = ["vault.key", "token"];

/** Folders as deep as any that people make by hand; a loop of mounts ends here. */
const DEEPEST = 64;
const MOST_NAMES = 1_000_000;

export interface HomeFile {
  path: string;
  kind: "file" | "folder" | "link";
  mode: number;
  size: number;
  /** Changes with the content: time of the last change, in ms, of content or attributes. */
  changed: number;
  target?: string;
  /** A file's content, piece by piece. */
  read(pieceBytes: number): AsyncGenerator<Buffer>;
}

/**
 * Every file, folder and link. A file that goes while the home is read is left out, one that grows is read as long as it was. `below`:
 * only these folders.
 */
export async function* homeFiles(
  home: string,
  how: { withKeys: boolean; below?: readonly string[]; unreadable: (path: string) => void },
): AsyncGenerator<HomeFile> {
  const isWanted = (top: string) =>
    !LEFT_OUT.has(top) &&
    !top.startsWith(ASIDE) &&
    !top.endsWith(".tmp") &&
    (how.withKeys || !KEY_FILES.includes(top)) &&
    (!how.below || how.below.includes(top));
  const root = await openInside(home, ".");
  try {
    const { entries } = await root.directory().entries(MOST_NAMES);
    for (const entry of entries.filter(({ name }) => isWanted(name))) {
      yield* seen({ ...entry, path: entry.name, dir: root.directory() }, how.unreadable);
      if (entry.kind !== "directory") continue;
      const below = await openInside(home, entry.name).catch(() => how.unreadable(entry.name));
      if (!below) continue;
      try {
        const walk = { depth: DEEPEST, closed: new Set<string>(), names: MOST_NAMES, onMore: how.unreadable };
        for await (const found of walkTree(below.directory(), walk, entry.name)) yield* seen(found, how.unreadable);
      } finally {
        await below.close();
      }
    }
  } finally {
    await root.close();
  }
}

type SeenEntry = Pick<TreeEntry, "name" | "kind" | "path" | "dir">;

async function* seen(entry: SeenEntry, unreadable: (path: string) => void): AsyncGenerator<HomeFile> {
  // Pipes, sockets and devices have no content.
  if (entry.kind === "other") return;
  let opened: FileHandle | undefined;
  try {
    const { path } = entry;
    if (entry.kind === "link") {
      const target = await readlink(await entry.dir.at(entry.name));
      yield { path, kind: "link", mode: 0, size: 0, changed: 0, target, read: noContent };
      return;
    }
    if (entry.kind === "directory") {
      const { mode } = await lstat(await entry.dir.at(entry.name));
      yield { path, kind: "folder", mode: mode & 0o777, size: 0, changed: 0, read: noContent };
      return;
    }
    const file = await openRegular(entry.dir, entry.name, () => wrongInput(`"${path}" is not a plain file.`));
    opened = file;
    const { mode, size, ctimeMs } = await file.stat();
    const read = (pieceBytes: number) => pieces(file, size, pieceBytes);
    yield { path, kind: "file", mode: mode & 0o777, size, changed: ctimeMs, read };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES" || code === "EPERM") unreadable(entry.path);
    // Gone, or replaced by something else, since it was listed.
    else if (!["ENOENT", "ENOTDIR", "ELOOP", "TOOL_INPUT"].includes(code ?? "")) throw error;
  } finally {
    await opened?.close();
  }
}

async function* noContent(): AsyncGenerator<Buffer> {}

async function* pieces(file: FileHandle, size: number, pieceBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; ) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - at));
    let got = 0;
    while (got < piece.length) {
      const { bytesRead } = await file.read(piece, got, piece.length - got, at + got);
      if (bytesRead === 0) break;
      got += bytesRead;
    }
    if (got === 0) return;
    yield piece.subarray(0, got);
    at += got;
  }
}
