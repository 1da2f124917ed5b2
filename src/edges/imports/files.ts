/** Reading a foreign folder: plain files only, never through a link, bounded. */
import { constants, lstatSync, readdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";

/** A transcript of a long life; more is not read at once. */
const LARGEST = 64 * 1024 * 1024;

export async function readText(path: string): Promise<string | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const found = await handle.stat();
      return found.isFile() && found.size <= LARGEST ? await handle.readFile("utf8") : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

/** Names of the folders in a folder, in order. */
export function foldersIn(dir: string): string[] {
  return namesIn(dir, (entry) => entry.isDirectory() && !entry.name.startsWith("."));
}

export function filesIn(dir: string): string[] {
  return namesIn(dir, (entry) => entry.isFile());
}

export function isFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

export function isFile(path: string): boolean {
  try {
    return lstatSync(path).isFile();
  } catch {
    return false;
  }
}

/** Folders below `dir`, two levels deep, that hold a SKILL.md. */
export function skillsIn(dir: string): { name: string; dir: string }[] {
  const found: { name: string; dir: string }[] = [];
  for (const name of foldersIn(dir)) {
    const path = join(dir, name);
    if (isFile(join(path, "SKILL.md"))) found.push({ name, dir: path });
    else
      for (const inner of foldersIn(path))
        if (isFile(join(path, inner, "SKILL.md"))) found.push({ name: inner, dir: join(path, inner) });
  }
  return found;
}

/** JSON as people edit it: comments, trailing commas, names without quotes. Undefined when it is not even that. */
export function looseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return parse(withoutComments(text));
    } catch {
      return undefined;
    }
  }
}

function withoutComments(text: string): string {
  return text.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) =>
    found.startsWith("/") ? "" : found,
  );
}

function namesIn(dir: string, wanted: (entry: import("node:fs").Dirent) => boolean): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter(wanted)
      .map((entry) => entry.name)
      .sort();
  } catch {
    return [];
  }
}
