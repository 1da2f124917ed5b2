/** Whole files that are there or not, never in parts: after a crash the old one or the new one. */
import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Replaces the file in one step; durable when it resolves. The owner's alone unless `mode` says otherwise. A link there is
 * replaced itself, never what it points to.
 */
export async function replaceFile(file: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const beside = await writeBeside(file, content, mode);
  try {
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

/** Makes the file unless there is one. False when there was. */
export async function createFile(file: string, content: string | Uint8Array): Promise<boolean> {
  const beside = await writeBeside(file, content, 0o600);
  try {
    await link(beside, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(beside, { force: true });
  }
  await syncFolder(dirname(file));
  return true;
}

async function writeBeside(file: string, content: string | Uint8Array, mode: number): Promise<string> {
  const beside = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  const handle = await open(beside, "wx", mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return beside;
}

/** Names in a folder are durable when it is synced. Not every system can do that, and none of those loses a file's content. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}

/** The same, before it returns. */
export function syncFolderNow(path: string): void {
  let folder: number | undefined;
  try {
    folder = openSync(path, "r");
    fsyncSync(folder);
  } catch {
    // As above.
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

/** Makes the file, or replaces it, in one step; durable when it returns. For the few that are written before anything else runs. */
export function replaceFileNow(file: string, content: string): void {
  const beside = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  const handle = openSync(beside, "wx", 0o600);
  try {
    writeSync(handle, content);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(beside, file);
  syncFolderNow(dirname(file));
}
