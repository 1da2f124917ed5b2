/** Reading and replacing the memory files of an agent's folder. Never through a link; a write is all or nothing. */
import { randomBytes } from "node:crypto";
import { constants, lstatSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Larger than anything people write by hand. */
const LARGEST = 1_000_000;

/** Undefined: no such file, or one that is not read (a link, too large, not text). */
export async function readPlain(dir: string, name: string): Promise<string | undefined> {
  try {
    const handle = await open(join(dir, name), constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const found = await handle.stat();
      if (!found.isFile() || found.size > LARGEST) return undefined;
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

export async function replacePlain(dir: string, name: string, text: string): Promise<void> {
  const file = join(dir, name);
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`);
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Renaming replaces a link itself, never what it points to.
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
