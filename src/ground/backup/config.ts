import { z } from "zod";

const count = (most: number, usual: number, about: string) =>
  z.number().int().min(0).max(most).default(usual).describe(about);

const keepConfig = z
  .strictObject({
    last: count(1000, 3, "The newest ones, however old."),
    daily: count(366, 7, "The newest one of each of this many days."),
    weekly: count(520, 4, "The newest one of each of this many weeks."),
    monthly: count(120, 6, "The newest one of each of this many months."),
  })
  .prefault({})
  .describe("Which backups stay when a new one is made. The newest always does.");

export const backupConfig = z
  .strictObject({
    folder: z
      .string()
      .min(1)
      .optional()
      .describe("Where backups go; a folder on another disk survives this one. Default: backups in the home."),
    everyHours: z
      .number()
      .min(0)
      .max(8760)
      .default(0)
      .describe("Makes a backup when the newest is this many hours old. 0: only when you ask."),
    keep: keepConfig,
    passphrase: z
      .string()
      .min(12, "at least 12 characters")
      .optional()
      .describe("Encrypts backups. Without it nobody can read them, so keep it elsewhere, too. Example: vault:BACKUP"),
  })
  .prefault({})
  .describe("Copies of the home, made while Lares works.");

export type KeepRules = z.output<typeof keepConfig>;
export type BackupSettings = z.output<typeof backupConfig>;
