/**
 * Backups of a home: made, listed, tried and restored.
 *
 * BACKUP-1: a restored home does and sends nothing again. What was open in it is closed by the rooms themselves (`settle`) before the
 * home is in its place, so no moment exists in which it could start otherwise.
 */
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { type Crash, defined } from "../../core/kit/index.ts";
import { examineDatabase, lockHome } from "../records/index.ts";
import { type Backup, type BackupArchive, lockArchive, openArchive } from "./archive.ts";
import type { BackupSettings } from "./config.ts";
import { createBackup } from "./create.ts";
import { finishRestore, isCutOff, placeRestored, stageIn } from "./place.ts";
import { pruneBackups } from "./prune.ts";
import { backupsIn } from "./timer.ts";
import { isEmptyFolder, unpackBackup } from "./unpack.ts";
import { backupErrors } from "./words.ts";

export interface BackupsParts {
  version: string;
  now: () => number;
  crash: Crash;
  /** The settings of a home, or the usual ones where `isLost` allows it: a damaged home must not stand in the way of its restoring. */
  settings: (home: string, isLost: boolean) => Promise<BackupSettings>;
  /** Closes what was open when the backup was made, in one transaction. `isQuiet`: no timer is left either. */
  settle: (database: string, at: number, isQuiet: boolean) => Promise<void>;
  /** Makes the folder of a home, or says why not. */
  ensureHome: (home: string) => void;
  /** Starts Lares on a home and stops it again, with no word from this process' environment. */
  tryStart: (home: string) => Promise<void>;
}

/** Without a folder, where the settings of the home say. */
interface BackupsAt {
  home: string;
  folder?: string;
  passphrase?: string;
}

/** A large database takes minutes, and nobody is kept from anything meanwhile. */
const CHECK_MS = 3_600_000;
/** What could talk to somebody, or needs a key that a trial has no use for. */
const SILENCED: readonly string[] = ["plugins", "channels", "vault.json", "vault.key"];

export class Backups {
  private readonly parts: BackupsParts;

  constructor(parts: BackupsParts) {
    this.parts = parts;
  }

  async create(at: BackupsAt) {
    // Those who talk to Lares meanwhile go first.
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
    const settings = await this.parts.settings(at.home, false);
    const archive = await this.open(at, settings, true);
    const lock = await lockArchive(archive.folder);
    try {
      const made = await createBackup({ ...this.parts, home: at.home, archive });
      const removed = await pruneBackups(archive, settings.keep);
      const { folder, isEncrypted } = archive;
      return { ...show(made), folder, isEncrypted, unreadable: made.unreadable, removed };
    } finally {
      lock.release();
    }
  }

  async list(at: BackupsAt) {
    const archive = await this.openKnown(at);
    const { backups, broken } = await archive.list();
    const { folder, isEncrypted } = archive;
    return { folder, isEncrypted, backups: backups.map(show), broken };
  }

  /**
   * Restores into a temporary home, checks the database page by page, and starts the real program there. Nobody hears of it: the settings
   * are left out, so there are no channels, servers or watches, and so are plugins and timers.
   */
  async verify(at: BackupsAt, id?: string) {
    const archive = await this.openKnown(at);
    const backup = await choose(archive, id);
    const home = await mkdtemp(join(tmpdir(), "lares-verify-"));
    try {
      await unpackBackup(archive, backup, home);
      const database = join(home, "lares.db");
      await this.parts.settle(database, this.parts.now(), true);
      const found = await examineDatabase(database, CHECK_MS);
      if (found.state !== "whole") throw backupErrors.damaged(backup.id, found.message);
      for (const name of SILENCED) await rm(join(home, name), { recursive: true, force: true });
      await writeFile(join(home, "lares.yaml"), "", { mode: 0o600 });
      await this.parts.tryStart(home);
      return show(backup);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  }

  async restore(from: BackupsAt, { id, to = from.home, replace }: { id?: string; to?: string; replace: boolean }) {
    const archive = await this.openKnown(from);
    const backup = await choose(archive, id);
    if (!replace && !(await isEmptyFolder(to))) throw backupErrors.notEmptyHome(to);
    this.parts.ensureHome(to);
    const lock = await lockHome(to);
    try {
      await finishRestore(to, this.parts.crash);
      const stage = stageIn(to);
      await unpackBackup(archive, backup, stage);
      const at = this.parts.now();
      await this.parts.settle(join(stage, "lares.db"), at, false);
      // Everything is in the file when it is closed.
      for (const beside of ["-wal", "-shm"]) rmSync(join(stage, `lares.db${beside}`), { force: true });
      const aside = await placeRestored(to, new Date(at).toISOString().replace(/[:.]/g, "-"), this.parts.crash);
      return { ...show(backup), home: to, aside };
    } finally {
      lock.release();
    }
  }

  private async openKnown(at: BackupsAt): Promise<BackupArchive> {
    return this.open(at, await this.parts.settings(at.home, at.folder !== undefined), false);
  }

  private async open(at: BackupsAt, settings: BackupSettings, make: boolean): Promise<BackupArchive> {
    const folder = at.folder ?? settings.folder ?? backupsIn(at.home);
    // What is set belongs to the folder that is set; another one may have its own.
    const isSet = at.folder === undefined || at.folder === settings.folder;
    const passphrase = at.passphrase ?? (isSet ? settings.passphrase : undefined);
    const archive = await openArchive(folder, { make, ...defined({ passphrase }) });
    if (make && passphrase !== undefined && !archive.isEncrypted) throw backupErrors.notEncrypted(folder);
    return archive;
  }
}

/** Before anything of a home is opened: finishes a restore that a crash cut off. */
export async function finishCutOffRestore(home: string, crash: Crash): Promise<void> {
  if (!existsSync(home) || !isCutOff(home)) return;
  const lock = await lockHome(home);
  try {
    await finishRestore(home, crash);
  } finally {
    lock.release();
  }
}

/** The newest, unless one is named. */
async function choose(archive: BackupArchive, id: string | undefined): Promise<Backup> {
  if (id !== undefined) return archive.read(id);
  const { backups, broken } = await archive.list();
  const newest = backups.at(-1);
  if (!newest) throw broken.length ? backupErrors.damaged(broken.at(-1)!) : backupErrors.none(archive.folder);
  return newest;
}

function show({ id, madeAt, version, bytes, added, entries, hasKeys }: Backup) {
  const files = entries.filter(({ kind }) => kind === "file").length;
  return { id, madeAt, version, bytes, added, files, hasKeys };
}
