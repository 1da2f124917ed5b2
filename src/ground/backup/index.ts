export { Backups, finishCutOffRestore } from "./backups.ts";
export { backupConfig } from "./config.ts";
export { createInProcess } from "./in-process.ts";
export { BackupTimer } from "./timer.ts";
export { RESTORED, RESTORED_SLOT } from "./words.ts";
