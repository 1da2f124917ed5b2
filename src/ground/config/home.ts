/** Whether a folder can be a home, and why not, in one sentence with the way out. Start, `status` and `doctor` say the same. */
import { accessSync, constants, mkdirSync, readlinkSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { AppError } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";

const OTHER = "choose another home with --home or LARES_HOME";

/** Makes the home where there is none. Throws STORAGE_FAILED or STORAGE_FULL when it can't be used. */
export function ensureHome(home: string): void {
  try {
    makeFolders(home);
  } catch (error) {
    throw homeProblem(home) ?? fileProblem(error, home) ?? notMade(home, error);
  }
  const problem = homeProblem(home);
  if (problem) throw problem;
}

/**
 * Creates one folder after the other. Node's `recursive` loops forever if a file system answers mkdir with ENOENT although the
 * parent exists, as /proc does.
 */
function makeFolders(dir: string): void {
  if (look(dir) === "folder") return;
  const parent = dirname(dir);
  if (parent !== dir && look(parent) === "ENOENT") makeFolders(parent);
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if (look(dir) !== "folder") throw error;
  }
}

function notMade(home: string, error: unknown): unknown {
  const { code, path } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === undefined) return error;
  return failed(
    `${home} can't be made: ${dirname(path ?? home)} doesn't accept new folders (${code}).`,
    upper(OTHER),
    error,
  );
}

function upper(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Looks and changes nothing. A home that isn't there yet is no problem when it can be made. */
export function homeProblem(home: string): AppError | undefined {
  const found = look(home);
  const file = homeFileProblem(home);
  if (file) return file;
  if (found === "ENOENT") return parentProblem(home);
  if (found !== "folder")
    return failed(`${home} can't be opened (${found}).`, `Check the folders above it, or ${OTHER}.`);
  return writeProblem(home, home);
}

/**
 * A file or a link to nothing where the home or a folder above it should be: for those who only read, and can do without the right
 * to write.
 */
export function homeFileProblem(home: string): AppError | undefined {
  const found = look(home);
  if (found === "ENOENT") return linkProblem(home);
  if (found === "file") return failed(`${home} is a file, not a folder.`, `Move it away, or ${OTHER}.`);
  if (found === "ENOTDIR")
    return failed(`${home} can't be a folder: part of its path is a file.`, `Correct the path, or ${OTHER}.`);
  return undefined;
}

/**
 * What a failed file operation means for the home; undefined when it isn't the file system's doing. `file` is the one that was
 * used: an error while reading doesn't name it.
 */
export function fileProblem(error: unknown, home: string, file = home): AppError | undefined {
  const { code, path = file } = (error ?? {}) as NodeJS.ErrnoException;
  switch (sqliteCode(error) ?? code) {
    case "ENOSPC":
    case "EDQUOT":
      return new AppError("STORAGE_FULL", {
        message: `${path} can't be written: the disk is full.`,
        hint: `Free some space (df -h ${home}), then try again.`,
        retry: "after-change",
        cause: error,
      });
    case "EROFS":
      return failed(
        `${path} can't be written: its file system is read-only.`,
        `Mount it for writing, or ${OTHER}.`,
        error,
      );
    case "EACCES":
    case "EPERM":
      return failed(`You aren't allowed to open or write ${path}.`, owning(home), error);
    case "EIO":
      return failed(
        `${path} can't be read or written: the disk reports an error.`,
        "Check the disk (dmesg), and copy the home.",
        error,
      );
    case "EISDIR":
      return failed(`${path} is a folder, not a file.`, `Move it away, or ${OTHER}.`, error);
    case "ENOTDIR":
      return failed(`${path} isn't what Lares expects there (${code}).`, `Move it away, or ${OTHER}.`, error);
    default:
      return undefined;
  }
}

/** The drivers' codes differ; their sentences don't. */
function sqliteCode(error: unknown): string | undefined {
  const said = String(error);
  if (/disk is full/i.test(said)) return "ENOSPC";
  return /readonly database|unable to open database/i.test(said) ? "EACCES" : undefined;
}

/** A link to nothing, as the home or as a folder above it: a disk that isn't mounted looks like this. */
function linkProblem(home: string): AppError | undefined {
  for (let dir = home; dir !== dirname(dir); dir = dirname(dir)) {
    const target = linkedTo(dir);
    if (target === undefined || look(dir) !== "ENOENT") continue;
    return failed(
      `${dir} is a link to ${target}, which doesn't exist.`,
      `Create that folder or mount its disk, or remove the link, or ${OTHER}.`,
    );
  }
  return undefined;
}

function linkedTo(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}

function parentProblem(home: string): AppError | undefined {
  let parent = dirname(home);
  while (look(parent) === "ENOENT" && parent !== dirname(parent)) parent = dirname(parent);
  return writeProblem(parent, home);
}

function writeProblem(dir: string, home: string): AppError | undefined {
  try {
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    if (code === "EROFS")
      return failed(`${dir} is on a read-only file system.`, `Mount it for writing, or ${OTHER}.`, error);
    const what = dir === home ? `You can't write to ${home}` : `${home} can't be made: you can't write to ${dir}`;
    return failed(`${what} (${code}).`, dir === home ? owning(home) : `Make it as its owner, or ${OTHER}.`, error);
  }
}

function look(path: string): string {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown reason";
  }
}

function owning(home: string): string {
  return `Run Lares as the owner of ${home} (ls -ld ${home}), or ${OTHER}.`;
}

function failed(message: string, hint: string, cause?: unknown): AppError {
  return new AppError("STORAGE_FAILED", { message, hint, retry: "after-change", ...truthy({ cause }) });
}
