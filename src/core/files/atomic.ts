/**
 * Whole-file writes that a crash cannot tear: temporary file in the same directory, flush, rename, flush the directory.
 *
 * FILES-7: at any moment the file has its old content or its new content.
 * FILES-8: a try with the same tag takes away what a killed try with that tag left behind.
 */
import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, rename, unlink } from "node:fs/promises";
import type { Dir } from "./dir.ts";
import { errno } from "./failure.ts";

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

export interface AtomicWrite {
  dir: Dir;
  name: string;
  content: string | Uint8Array;
  /** The same on every try of the same write, different otherwise. */
  tag: string;
  /** The file that is replaced; its mode and owner are kept. */
  old?: Stats;
  /** For a file that is not there; without it whatever the umask gives. */
  mode?: number;
}

export async function writeAtomic({ dir, name, content, tag, old, mode }: AtomicWrite): Promise<void> {
  const temp = tempName(tag);
  const file = await createFresh(dir, temp);
  try {
    let written: { dev: bigint; ino: bigint };
    try {
      await file.writeFile(content);
      if (old) await keepOwner(file, old);
      else if (mode !== undefined) await file.chmod(mode & 0o777);
      await file.sync();
      written = await file.stat({ bigint: true });
    } finally {
      await file.close();
    }
    // Another try with this tag may have replaced our temporary file; its half-written one must not become the file.
    const there = await lstat(await dir.at(temp), { bigint: true });
    if (there.dev !== written.dev || there.ino !== written.ino) throw new Error("the temporary file was replaced");
    await rename(await dir.at(temp), await dir.at(name));
  } catch (error) {
    await discard(dir, tag);
    throw error;
  }
  await dir.handle.sync();
}

/** Takes away what a killed try left behind (FILES-8). */
export async function discard(dir: Dir, tag: string): Promise<void> {
  await unlink(await dir.at(tempName(tag))).catch(() => undefined);
}

function tempName(tag: string): string {
  return `.lares-${createHash("sha256").update(tag).digest("hex").slice(0, 16)}.tmp`;
}

async function createFresh(dir: Dir, temp: string) {
  try {
    return await dir.openFile(temp, CREATE, 0o666);
  } catch (error) {
    if (errno(error) !== "EEXIST") throw error;
    await unlink(await dir.at(temp));
    return dir.openFile(temp, CREATE, 0o666);
  }
}

async function keepOwner(file: Awaited<ReturnType<Dir["openFile"]>>, old: Stats): Promise<void> {
  const now = await file.stat();
  // Only root may give files away; for others the owner is the same or stays theirs.
  if (now.uid !== old.uid || now.gid !== old.gid) await file.chown(old.uid, old.gid).catch(() => undefined);
  await file.chmod(old.mode & 0o777);
}
