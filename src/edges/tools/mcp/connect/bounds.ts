/**
 * What a server's program may use up as a whole, with everything it starts: the kernel bounds single processes, and doesn't count them at
 * all for root. It is looked at while it runs.
 *
 * MCP-29: a program with more processes or memory than it may have, or more in its data folder, is ended with that as the reason; a
 *     plugin whose data folder is over its limit isn't started.
 */
import { lstat, opendir, statfs } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import { AppError } from "../../../../core/domain/index.ts";
import { guard } from "../../exec/guard.ts";
import type { Run } from "../../exec/processes.ts";

export interface ProgramBounds {
  /** "a plugin" or "an MCP server". */
  what: string;
  processes: number;
  /** Of all its processes together. */
  memoryMb: number;
  folder?: FolderBound | undefined;
}

/** What may lie in a folder. */
export interface FolderBound {
  path: string;
  mostMb: number;
}

const MB = 1024 * 1024;
/** A program the owner chose: far more than a browser with many tabs has, far less than a machine can bear. */
const SERVER_PROCESSES = 512;
/** Looked at in one folder; more files than that are too many. */
const MOST_FILES = 100_000;
/** From one look through a folder to the next. When the disk lost as much as it may have, at once. */
const FOLDER_EVERY_MS = 5000;

export function serverBounds(): ProgramBounds {
  return { what: "an MCP server", processes: SERVER_PROCESSES, memoryMb: Math.floor((totalmem() / MB) * 0.75) };
}

/** Ends the run when it is over a bound, and says why. Call what it returns when the run is over. */
export function watchBounds(run: Run, bounds: ProgramBounds, onExcess: (why: string) => void): () => void {
  const { what, processes, memoryMb, folder } = bounds;
  return guard(run, { processes, memoryMb }, onExcess, {
    isService: true,
    processes: (count) => `it had ${count} processes, and ${what} may have ${processes}`,
    memory: (mb) => `its processes used ${mb} MB together, and ${what} may use ${memoryMb}`,
    ...(folder ? { also: makeFolderLook(folder) } : {}),
  });
}

/** Throws when it already has too much, before it is started. */
export async function checkFolder({ path, mostMb }: FolderBound, plugin: string): Promise<void> {
  const why = await folderExcess({ path, mostMb });
  if (why === undefined) return;
  throw new AppError("NOT_READY", {
    message: `The plugin ${plugin} isn't started: ${why}.`,
    hint: `Delete what it doesn't need in ${path}, or raise plugins.dataMb.`,
    retry: "after-change",
  });
}

function makeFolderLook(folder: FolderBound): () => Promise<string | undefined> {
  let lookAt = performance.now() + FOLDER_EVERY_MS;
  let freeBefore: number | undefined;
  return async () => {
    const free = await freeMb(folder.path);
    freeBefore ??= free;
    const mayBe = free !== undefined && freeBefore !== undefined && freeBefore - free > folder.mostMb / 2;
    if (performance.now() < lookAt && !mayBe) return undefined;
    freeBefore = free;
    const why = await folderExcess(folder);
    lookAt = performance.now() + FOLDER_EVERY_MS;
    return why;
  };
}

async function freeMb(path: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(path);
    return (bavail * bsize) / MB;
  } catch {
    return undefined;
  }
}

async function folderExcess({ path, mostMb }: FolderBound): Promise<string | undefined> {
  const { bytes, files } = await measure(path, mostMb * MB);
  if (files > MOST_FILES) return `its data folder has more than ${MOST_FILES} files`;
  if (bytes <= mostMb * MB) return undefined;
  return `its data folder has ${Math.ceil(bytes / MB)} MB, and plugins.dataMb allows ${mostMb}`;
}

/** What lies below a folder, counted up to a little more than `most`. No link is followed. */
async function measure(path: string, most: number): Promise<{ bytes: number; files: number }> {
  let bytes = 0;
  let files = 0;
  const folders = [path];
  for (let dir = folders.pop(); dir !== undefined; dir = folders.pop()) {
    // What is deleted meanwhile doesn't count.
    const entries = await opendir(dir).catch(() => undefined);
    if (!entries) continue;
    for await (const entry of entries) {
      const at = join(dir, entry.name);
      if (entry.isDirectory()) folders.push(at);
      else if (entry.isFile()) {
        const stat = await lstat(at).catch(() => undefined);
        // What is allotted: a file with holes takes no room.
        bytes += Math.min(stat?.size ?? 0, (stat?.blocks ?? 0) * 512);
      }
      if (++files > MOST_FILES || bytes > 2 * most) return { bytes, files };
    }
  }
  return { bytes, files };
}
