/** Reading and replacing the memory files of an agent's folder. Never through a link; a write is all or nothing. */
import { constants, lstatSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile } from "../../../core/kit/index.ts";

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
  await replaceFile(file, text);
}
