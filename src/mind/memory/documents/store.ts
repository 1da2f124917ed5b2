import type { Reads, Tx } from "../../../core/contracts/index.ts";

export interface FileRow {
  path: string;
  mtime: number;
  size: number;
  hash: string;
}

export function listKnownFiles(db: Reads, scope: string, folder: string): Promise<FileRow[]> {
  return db.all("SELECT path, mtime, size, hash FROM memory_file WHERE scope = ? AND folder = ?", scope, folder);
}

export function keepFile(tx: Tx, f: FileRow & { scope: string; folder: string }): void {
  tx.run(
    `INSERT INTO memory_file (path, scope, folder, mtime, size, hash) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (scope, path) DO UPDATE SET folder = excluded.folder, mtime = excluded.mtime, size = excluded.size,
     hash = excluded.hash`,
    f.path,
    f.scope,
    f.folder,
    f.mtime,
    f.size,
    f.hash,
  );
}

export function dropFile(tx: Tx, scope: string, path: string): void {
  tx.run("DELETE FROM memory_file WHERE scope = ? AND path = ?", scope, path);
}

export function listFolders(
  db: Reads,
): Promise<{ dir: string; scope: string; at: number; report: string | null; files: number }[]> {
  return db.all(
    `SELECT d.dir, d.scope, d.at, d.report,
     (SELECT COUNT(*) FROM memory_file f WHERE f.scope = d.scope AND f.folder = d.dir) AS files
     FROM memory_folder d ORDER BY d.dir, d.scope`,
  );
}

export function keepFolder(tx: Tx, f: { dir: string; scope: string; at: number; report: string }): void {
  tx.run(
    `INSERT INTO memory_folder (dir, scope, at, report) VALUES (?, ?, ?, ?)
     ON CONFLICT (dir, scope) DO UPDATE SET at = excluded.at, report = excluded.report`,
    f.dir,
    f.scope,
    f.at,
    f.report,
  );
}

export function dropFolder(tx: Tx, dir: string, scope: string): void {
  tx.run("DELETE FROM memory_folder WHERE dir = ? AND scope = ?", dir, scope);
}
