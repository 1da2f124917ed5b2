/** What backups say when something is wrong: what happened, and what to do next. */
import { AppError } from "../../core/domain/index.ts";

const ELSEWHERE = "Name another folder with --from, or another backup: lares backup list";

export const backupErrors = {
  none: (folder: string) =>
    new AppError("NOT_FOUND", {
      message: `There are no backups in ${folder}.`,
      hint: "Make one: lares backup create. Or name the folder they are in with --from.",
    }),
  busy: (folder: string, cause: unknown) =>
    new AppError("CONFLICT", {
      message: `Another backup is being made in ${folder} right now.`,
      hint: "Try again when it is done.",
      retry: "later",
      cause,
    }),
  unknown: (id: string, folder: string) =>
    new AppError("NOT_FOUND", {
      message: `There is no backup "${id}" in ${folder}.`,
      hint: "See them: lares backup list",
    }),
  notEmpty: (folder: string) =>
    new AppError("CONFLICT", {
      message: `${folder} has other files in it, so no backups are put there.`,
      hint: "Choose an empty folder with --to or backup.folder.",
      retry: "after-change",
    }),
  notAFolderOfOurs: (file: string, cause: unknown) =>
    new AppError("BACKUP_DAMAGED", {
      message: `${file} can't be read, so what is in its folder can't either.`,
      hint: "Restore that one file from a copy of the folder, or choose another folder.",
      cause,
    }),
  newerFormat: (folder: string, format: number) =>
    new AppError("DATABASE_NEWER", {
      message: `The backups in ${folder} were made by a newer Lares (format ${format}).`,
      hint: "Use that Lares, or choose another folder. Nothing was changed.",
      retry: "after-change",
    }),
  newerSchema: (id: string, version: string) =>
    new AppError("DATABASE_NEWER", {
      message: `Backup ${id} was made by Lares ${version}, whose database this Lares doesn't know.`,
      hint: "Restore it with that version or a later one. Nothing was changed.",
      retry: "after-change",
    }),
  needsPassphrase: (folder: string) =>
    new AppError("BACKUP_SEALED", {
      message: `The backups in ${folder} are encrypted.`,
      hint: "Give the passphrase: --passphrase-file FILE, or backup.passphrase in the settings.",
      retry: "after-change",
    }),
  wrongPassphrase: (folder: string) =>
    new AppError("BACKUP_SEALED", {
      message: `This passphrase doesn't open the backups in ${folder}.`,
      hint: "Try the one they were made with. Nothing was changed.",
      retry: "after-change",
    }),
  notEncrypted: (folder: string) =>
    new AppError("CONFLICT", {
      message: `The backups in ${folder} aren't encrypted, and a passphrase doesn't change that.`,
      hint: "Choose another folder for encrypted ones with --to or backup.folder.",
      retry: "after-change",
    }),
  damaged: (id: string, cause?: unknown) =>
    new AppError("BACKUP_DAMAGED", { message: `Backup ${id} is damaged.`, hint: ELSEWHERE, cause }),
  missingPiece: (folder: string, cause?: unknown) =>
    new AppError("BACKUP_DAMAGED", {
      message: `A part of this backup is missing in ${folder}.`,
      hint: ELSEWHERE,
      cause,
    }),
  badPath: (path: string) =>
    new AppError("BACKUP_DAMAGED", { message: `The backup names a file outside the home: ${path}.`, hint: ELSEWHERE }),
  noRoom: (where: string, needs: number, cause?: unknown) =>
    new AppError("STORAGE_FULL", {
      message: `There isn't enough room in ${where}${needs ? `: ${Math.ceil(needs / 1_000_000)} MB are needed` : ""}.`,
      hint: `Free some space (df -h ${where}), or choose another disk. Earlier backups are untouched.`,
      retry: "after-change",
      cause,
    }),
  noDatabase: (home: string) =>
    new AppError("NOT_FOUND", {
      message: `${home} has no database, so there is nothing to back up.`,
      hint: "Name the home with --home.",
    }),
  notEmptyHome: (home: string) =>
    new AppError("CONFLICT", {
      message: `${home} isn't empty.`,
      hint: "Add --replace: what is there now is moved to a folder inside it, not deleted. Or restore elsewhere with --to.",
      retry: "after-change",
    }),
  changedFolder: (path: string, cause?: unknown) =>
    new AppError("STORAGE_FAILED", { message: `${path} couldn't be read for the backup.`, retry: "later", cause }),
};

/** Stands with everything that was open when the backup was made. */
export const RESTORED =
  "Lares was restored from a backup in which this was still open. It may have been done since, so it wasn't done again.";
export const RESTORED_SLOT = "before Lares was restored from a backup; it may have run then";

export const backupFailed = (why: string) => `The last backup on schedule failed: ${why}`;
