/**
 * Reading and replacing the memory files of an agent's folder. A write is all or nothing, and no link is followed: neither a
 * file's nor the `memory` folder's.
 */
import { lstatSync } from "node:fs";
import { listBelow, textBelow, writeBelow } from "../../../core/files/index.ts";

/** Larger than anything people write by hand. */
const LARGEST = 1_000_000;
/** Twenty-seven years of daily notes. */
const MOST_NAMES = 10_000;

/** Undefined: no such file, or one that is not read (a link, too large, not a plain file). */
export function readPlain(dir: string, name: string): Promise<string | undefined> {
  return textBelow({ root: dir, path: name, most: LARGEST, links: "refuse" });
}

export async function replacePlain(dir: string, name: string, text: string): Promise<void> {
  await writeBelow({ root: dir, path: name, content: text, tag: `view ${name}`, mode: 0o600, links: "refuse" });
}

/** Names of the plain files in a folder of `dir`, sorted. */
export async function namesIn(dir: string, folder: string): Promise<string[]> {
  const { entries } = await listBelow({ root: dir, path: folder, most: MOST_NAMES, links: "refuse" });
  return entries.filter(({ kind }) => kind === "file").map(({ name }) => name);
}

/** A folder itself, not a link to one: a link is neither read nor watched. */
export function isRealFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
