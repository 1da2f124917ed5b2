import type { Reads, Tx } from "../../../core/contracts/index.ts";

export interface FileRow {
  path: string;
  mtime: number;
  size: number;
  hash: string;
}

export function filesOf(db: Reads, scope: string, folder: string): Promise<FileRow[]> {
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
