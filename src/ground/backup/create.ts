/**
 * Makes a backup of a home, whether Lares runs on it or not.
 *
 * Files that the database refers to (attachments, checkpoints) are read before it and, where new ones came meanwhile, once
 * more after it, so that what its rows name is there.
 * A backup that fails leaves the folder as it was.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { backupIds } from "../../core/domain/index.ts";
import { type Crash, defined } from "../../core/kit/index.ts";
import { type Backup, type BackupArchive, type BackupEntry, PackWriter } from "./archive.ts";
import { type HomeFile, homeFiles } from "./home-files.ts";
import { openPages } from "./pages.ts";
import { backupErrors } from "./words.ts";

/** A few rows that changed cost this much; smaller pieces would make the lists longer than what they save. */
const DATABASE_PIECE = 65_536;
const FILE_PIECE = 1_048_576;
/** Written while the database is copied, under names that never come again. */
const REFERRED: readonly string[] = ["attachments", "checkpoints"];

export interface CreateParts {
  home: string;
  archive: BackupArchive;
  version: string;
  now: () => number;
  crash: Crash;
}

export async function createBackup(parts: CreateParts): Promise<Backup & { unreadable: string[] }> {
  const { home, archive, crash } = parts;
  const database = join(home, "lares.db");
  if (!existsSync(database)) throw backupErrors.noDatabase(home);
  const madeAt = parts.now();
  const id = backupIds.make(madeAt, randomBytes(3).toString("hex"));
  await removeLeftovers(archive);
  const pack = await PackWriter.open(archive, id);
  try {
    const files = new FileTaker(parts, pack, await readEarlier(archive));
    await files.take();
    const copied = await copyDatabase(database, pack);
    await files.take(REFERRED);
    const { entries, bytes, unreadable } = files;
    await pack.finish();
    crash.at("backup.packed");
    const hasKeys = archive.isEncrypted;
    const { version } = parts;
    const sums = { bytes: bytes + copied.databaseBytes, added: pack.bytes };
    const backup = { format: 1, id, madeAt, version, ...copied, entries: [...entries.values()], ...sums, hasKeys };
    await archive.write(backup);
    crash.at("backup.stored");
    return { ...backup, unreadable };
  } catch (error) {
    await pack.drop().catch(() => {});
    await archive.remove(`${id}.index`).catch(() => {});
    const { code } = error as NodeJS.ErrnoException;
    throw code === "ENOSPC" || code === "EDQUOT" ? backupErrors.noRoom(archive.folder, 0, error) : error;
  }
}

/** What a crash left: a pack without an index has no use (ARCHIVE-1). */
async function removeLeftovers(archive: BackupArchive): Promise<void> {
  const indexes = new Set(await archive.names(".index"));
  for (const pack of await archive.names(".pack")) if (!indexes.has(pack)) await archive.remove(`${pack}.pack`);
}

/** FileTaker of the newest backup by path: one that hasn't changed since need not be read. */
async function readEarlier(archive: BackupArchive): Promise<Map<string, BackupEntry>> {
  const { backups } = await archive.list();
  return new Map(backups.at(-1)?.entries.map((entry) => [entry.path, entry]));
}

async function copyDatabase(file: string, pack: PackWriter) {
  const pages = await openPages(file);
  try {
    const database: string[] = [];
    for (let at = 0; at < pages.bytes; at += DATABASE_PIECE) {
      database.push(await pack.add(pages.read(at, Math.max(DATABASE_PIECE, pages.pageSize))));
    }
    return { database, databaseBytes: pages.bytes, schema: pages.schema };
  } finally {
    pages.close();
  }
}

class FileTaker {
  readonly entries = new Map<string, BackupEntry>();
  readonly unreadable: string[] = [];
  private readonly parts: CreateParts;
  private readonly pack: PackWriter;
  private readonly earlier: ReadonlyMap<string, BackupEntry>;

  constructor(parts: CreateParts, pack: PackWriter, earlier: ReadonlyMap<string, BackupEntry>) {
    this.parts = parts;
    this.pack = pack;
    this.earlier = earlier;
  }

  get bytes(): number {
    return [...this.entries.values()].reduce((sum, { size = 0 }) => sum + size, 0);
  }

  async take(below?: readonly string[]): Promise<void> {
    const { home, archive } = this.parts;
    const unreadable = (path: string) => void this.unreadable.push(path);
    const how = { withKeys: archive.isEncrypted, unreadable, ...defined({ below }) };
    for await (const file of homeFiles(home, how)) {
      if (below && this.entries.has(file.path)) continue;
      this.entries.set(file.path, await this.entry(file));
    }
  }

  private async entry(file: HomeFile): Promise<BackupEntry> {
    const { path, kind, mode, size, changed, target } = file;
    if (kind === "link") return { path, kind, mode, target: target ?? "" };
    if (kind === "folder") return { path, kind, mode };
    const before = this.earlier.get(path);
    if (before?.kind === "file" && before.size === size && before.changed === changed && (await this.isThere(before)))
      return { ...before, mode };
    const pieces: string[] = [];
    for await (const piece of file.read(FILE_PIECE)) pieces.push(await this.pack.add(piece));
    return { path, kind, mode, size, changed, pieces };
  }

  private async isThere({ pieces = [] }: BackupEntry): Promise<boolean> {
    const known = await this.parts.archive.known();
    return pieces.every((piece) => known.has(piece));
  }
}
