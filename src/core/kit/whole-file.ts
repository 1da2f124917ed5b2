/** Whole files that are there or not, never in parts: after a crash the old one or the new one. */
import { randomBytes } from "node:crypto";
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
  await syncFolder(file);
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
  await syncFolder(file);
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

/** A rename is durable when its folder is. Not every system can do that, and none of those loses the file's content. */
async function syncFolder(file: string): Promise<void> {
  const folder = await open(dirname(file), "r").catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}
