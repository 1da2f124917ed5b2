/** Writes a backup's files into an empty folder of ours. Everything is on the disk when it resolves. */
import { chmod, type FileHandle, mkdir, open, readdir, rm, statfs, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "../../core/kit/index.ts";
import { MIGRATIONS } from "../records/index.ts";
import type { Backup, BackupArchive, BackupEntry } from "./archive.ts";
import { backupErrors } from "./words.ts";

export async function unpackBackup(archive: BackupArchive, backup: Backup, to: string): Promise<void> {
  if (backup.schema > MIGRATIONS.length) throw backupErrors.newerSchema(backup.id, backup.version);
  for (const { path } of backup.entries) mustBeInside(path);
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true, mode: 0o700 });
  try {
    await mustHaveRoom(to, backup.bytes);
    const byKind = (kind: BackupEntry["kind"]) => backup.entries.filter((entry) => entry.kind === kind);
    const folders = byKind("folder").sort((a, b) => a.path.length - b.path.length);
    for (const { path } of folders) await mkdir(join(to, path), { recursive: true, mode: 0o700 });
    const content = (pieces: readonly string[]) => (id: number) => archive.piece(pieces[id]!);
    await writePieces(join(to, "lares.db"), 0o600, backup.database.length, content(backup.database));
    for (const { path, mode, pieces = [] } of byKind("file")) {
      await mkdir(dirname(join(to, path)), { recursive: true, mode: 0o700 });
      await writePieces(join(to, path), mode, pieces.length, content(pieces));
    }
    // Last, so that no file is written through one.
    for (const { path, target = "" } of byKind("link")) await symlink(target, join(to, path));
    for (const { path, mode } of folders.reverse()) {
      await syncFolder(join(to, path));
      await chmod(join(to, path), mode);
    }
    await syncFolder(to);
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw code === "ENOSPC" || code === "EDQUOT" ? backupErrors.noRoom(to, 0, error) : error;
  }
}

/** The list could have been made by somebody else. */
function mustBeInside(path: string): void {
  const names = path.split("/");
  if (names.some((name) => name === "" || name === "." || name === "..") || path.includes("\0"))
    throw backupErrors.badPath(path);
}

async function mustHaveRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < bytes) throw backupErrors.noRoom(folder, bytes);
}

async function writePieces(
  path: string,
  mode: number,
  count: number,
  piece: (index: number) => Promise<Buffer>,
): Promise<void> {
  const file: FileHandle = await open(path, "wx", 0o600);
  try {
    for (let i = 0; i < count; i++) await file.write(await piece(i));
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function isEmptyFolder(path: string): Promise<boolean> {
  try {
    return (await readdir(path)).length === 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw error;
  }
}
