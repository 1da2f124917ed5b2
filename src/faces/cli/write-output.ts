/** The file that -o names. Every command that takes -o writes through here. */
import { constants } from "node:fs";
import { lstat, open, realpath, stat, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { replaceFile } from "../../core/kit/index.ts";
import { usage } from "./exit.ts";
import { commonWords as words } from "./words/common.ts";

/**
 * A file is replaced in one step, so that a crash leaves the old one or the new one; it is the owner's alone, since people's words
 * are in it. A link is followed. A pipe or a device is written to: replacing it would destroy it. Returns the whole path.
 */
export async function writeOutput(given: string, text: string): Promise<string> {
  const file = resolve(given);
  try {
    await write(file, text);
  } catch (cause) {
    throw usage(words.notWritten(file, readCode(cause)), words.notWrittenHint);
  }
  return file;
}

async function write(file: string, text: string): Promise<void> {
  const there = await stat(file).catch(ifMissing);
  if (there?.isFile()) return replaceFile(await realpath(file), text);
  if (there) return writeInto(file, text);
  // A link to a file that isn't there yet: the system follows it.
  if (await lstat(file).catch(ifMissing)) return writeFile(file, text, { mode: 0o600 });
  return replaceFile(file, text);
}

/** Neither creates nor truncates; a folder or a socket refuses it. */
async function writeInto(file: string, text: string): Promise<void> {
  const handle = await open(file, constants.O_WRONLY);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

function readCode(cause: unknown): string {
  return (cause as NodeJS.ErrnoException).code ?? words.unknownReason;
}
