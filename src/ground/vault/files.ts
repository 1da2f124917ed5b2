/** The vault's files. */
import { readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { replaceFile } from "../../core/kit/index.ts";

export async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Replaces the file, and takes away what processes that were killed in the middle left behind. */
export async function replaceSwept(file: string, bytes: string): Promise<void> {
  await sweep(file);
  await replaceFile(file, bytes);
}

async function sweep(file: string): Promise<void> {
  const start = `${basename(file)}.`;
  for (const name of await readdir(dirname(file))) {
    if (name.startsWith(start) && name.endsWith(".tmp")) await rm(join(dirname(file), name), { force: true });
  }
}

export async function removeFile(file: string): Promise<void> {
  await rm(file, { force: true });
}
