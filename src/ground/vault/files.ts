/** Whole files that are there or not, never in parts: after a crash the old one or the new one. */
import { randomBytes } from "node:crypto";
import { link, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Replaces the file in one step; durable when it resolves. Readable by its owner only. */
export async function replaceFile(file: string, bytes: string): Promise<void> {
  await sweep(file);
  const temporary = await writeBeside(file, bytes);
  await rename(temporary, file);
  await syncFolder(file);
}

/** Makes the file unless there is one. False when there was. */
export async function createFile(file: string, bytes: string): Promise<boolean> {
  const temporary = await writeBeside(file, bytes);
  try {
    await link(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(file);
  return true;
}

async function writeBeside(file: string, bytes: string): Promise<string> {
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return temporary;
}

/** What processes that were killed in the middle left behind. */
async function sweep(file: string): Promise<void> {
  const start = `${basename(file)}.`;
  for (const name of await readdir(dirname(file))) {
    if (name.startsWith(start) && name.endsWith(".tmp")) await rm(join(dirname(file), name), { force: true });
  }
}

/** A rename is durable when its folder is. Not every system can do that, and none of those loses the file's content. */
async function syncFolder(file: string): Promise<void> {
  const folder = await open(dirname(file), "r").catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}
